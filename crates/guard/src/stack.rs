//! The initial stack of a process: arguments, environment and auxiliary vector.
//!
//! ```text
//! stack pointer → argc   argv[0] … 0   envp[0] … 0   (type, value) … (AT_NULL, 0)
//! ```
//!
//! Source: System V ABI, AMD64 supplement, 3.4.1; `getauxval(3)`.
#![expect(unsafe_code, reason = "the kernel hands over a pointer")]

use crate::text::Text;

pub const AT_NULL: usize = 0;
pub const AT_BASE: usize = 7;
pub const AT_HWCAP: usize = 16;
pub const AT_SECURE: usize = 23;
pub const AT_HWCAP2: usize = 26;
pub const AT_EXECFN: usize = 31;

/// The initial stack of this process.
pub struct Stack {
    argv: *mut usize,
    envp: *mut usize,
    auxv: *mut usize,
}

/// Where an entry of the auxiliary vector holds its value.
#[derive(Clone, Copy)]
struct Entry(*mut usize);

impl Stack {
    /// The stack that begins at the initial stack pointer.
    ///
    /// # Safety
    /// `pointer` must be what the kernel gave, and the stack must be as the kernel made it.
    pub unsafe fn new(pointer: *mut usize) -> Self {
        // SAFETY: the first word is the number of arguments.
        let argc = unsafe { pointer.read() };
        let argv = pointer.wrapping_add(1);
        let envp = argv.wrapping_add(argc).wrapping_add(1);
        let mut auxv = envp;
        // SAFETY: the environment ends with a null.
        while unsafe { auxv.read() } != 0 {
            auxv = auxv.wrapping_add(1);
        }
        auxv = auxv.wrapping_add(1);
        Self { argv, envp, auxv }
    }

    /// Address of the array of arguments.
    pub fn argv(&self) -> usize {
        self.argv.expose_provenance()
    }

    /// Address of the array of variables.
    pub fn envp(&self) -> usize {
        self.envp.expose_provenance()
    }

    /// The variables, each as `NAME=VALUE`.
    pub fn variables(&self) -> impl Iterator<Item = Text> {
        let mut next = self.envp;
        core::iter::from_fn(move || {
            // SAFETY: the array ends with a null, and behind that no word is asked for.
            let variable = text_at(unsafe { next.read() })?;
            next = next.wrapping_add(1);
            Some(variable)
        })
    }

    /// A value of the auxiliary vector; 0 when the kernel gave none.
    pub fn value(&self, kind: usize) -> usize {
        match self.entry(kind) {
            // SAFETY: an entry has a value.
            Some(entry) => unsafe { entry.0.read() },
            None => 0,
        }
    }

    /// The path that was executed.
    pub fn executed(&self) -> Option<Text> {
        text_at(self.value(AT_EXECFN))
    }

    /// Changes a value of the auxiliary vector, if the kernel gave one.
    pub fn set(&self, kind: usize, value: usize) {
        if let Some(entry) = self.entry(kind) {
            // SAFETY: the stack is this process's own, and nobody else reads it now.
            unsafe { entry.0.write(value) };
        }
    }

    /// The first argument; there may be none.
    pub fn first_argument(&self) -> Option<Text> {
        // SAFETY: where there are no arguments there is the null at their end.
        text_at(unsafe { self.argv.read() })
    }

    /// Changes the first argument, which must be there.
    pub fn set_first_argument(&self, text: Text) {
        // SAFETY: the stack is this process's own, and nobody else reads it now.
        unsafe { self.argv.write(text.address()) };
    }

    fn entry(&self, kind: usize) -> Option<Entry> {
        let mut next = self.auxv;
        loop {
            // SAFETY: the vector ends with AT_NULL, and behind that no word is asked for.
            let found = unsafe { next.read() };
            if found == kind {
                return Some(Entry(next.wrapping_add(1)));
            }
            if found == AT_NULL {
                return None;
            }
            next = next.wrapping_add(2);
        }
    }
}

/// A text of the initial stack; null is none.
fn text_at(address: usize) -> Option<Text> {
    let pointer = core::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: the kernel wrote texts that end with zero, and they stay where they are.
    (!pointer.is_null()).then(|| unsafe { Text::new(pointer) })
}
