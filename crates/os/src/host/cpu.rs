//! What the processor says about itself: the same question on every system.

use super::cpuid;

/// The processor's name (CPUID 8000_0002h to 8000_0004h).
pub(super) fn model() -> Option<String> {
    const EXTENDED: u32 = 0x8000_0000;
    const BRAND: [u32; 3] = [0x8000_0002, 0x8000_0003, 0x8000_0004];
    if cpuid::leaf(EXTENDED)?[0] < BRAND[2] {
        return None;
    }
    let registers: Vec<u32> = BRAND
        .iter()
        .filter_map(|&leaf| cpuid::leaf(leaf))
        .flatten()
        .collect();
    let name = text(&registers);
    // Makers pad the name with blanks on either side and in the middle.
    let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    Some(name).filter(|name| !name.is_empty())
}

/// The hypervisor, which sets a bit that no processor sets itself (CPUID 1 ECX bit 31) and gives its name at 4000_0000h.
pub(super) fn hypervisor() -> Option<String> {
    const PRESENT: u32 = 1 << 31;
    if cpuid::leaf(1)?[2] & PRESENT == 0 {
        return None;
    }
    let [_, name @ ..] = cpuid::leaf(0x4000_0000)?;
    Some(hypervisor_name(&text(&name)))
}

fn hypervisor_name(signature: &str) -> String {
    let known = match signature.trim() {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU without acceleration",
        "VBoxVBoxVBox" => "VirtualBox",
        "bhyve bhyve" => "bhyve",
        "prl hyperv" | "lrpepyh  vr" => "Parallels",
        "" => "unnamed",
        other => other,
    };
    known.to_owned()
}

fn text(registers: &[u32]) -> String {
    let bytes: Vec<u8> = registers
        .iter()
        .flat_map(|register| register.to_le_bytes())
        .collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_as_text() {
        let registers = [
            u32::from_le_bytes(*b"KVMK"),
            u32::from_le_bytes(*b"VMKV"),
            u32::from_le_bytes(*b"M\0\0\0"),
        ];
        assert_eq!(hypervisor_name(&text(&registers)), "KVM");
        assert_eq!(hypervisor_name("NewKindOfHv"), "NewKindOfHv");
        assert_eq!(hypervisor_name(&text(&[0, 0, 0])), "unnamed");
    }
}
