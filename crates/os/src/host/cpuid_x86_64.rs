//! The CPUID instruction.

use std::arch::x86_64::__cpuid;

/// The four registers EAX, EBX, ECX, EDX of a leaf, with the last three in the order in which hypervisors and
/// processors spell names. The caller has made sure that the leaf exists.
pub(super) fn leaf(number: u32) -> Option<[u32; 4]> {
    let registers = __cpuid(number);
    Some([registers.eax, registers.ebx, registers.ecx, registers.edx])
}
