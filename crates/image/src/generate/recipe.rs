//! The commands that build a set, in the folder of its sources: words for a process, never for a shell.

use super::{Format, Hash, Linkage, References, Set};

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The program, to be found in PATH.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The file that it makes.
    pub makes: String,
}

/// The Debian package that brings a program of a recipe.
#[must_use]
pub fn package(program: &str) -> &'static str {
    if program.starts_with("x86_64-w64-mingw32-") {
        "gcc-mingw-w64-x86-64"
    } else {
        "gcc"
    }
}

/// The Debian package that brings a linker.
#[must_use]
pub fn linker_package(linker: &str) -> &'static str {
    match linker {
        "lld" => "lld",
        "mold" => "mold",
        _ => "binutils",
    }
}

/// The commands that build the set, in order.
#[must_use]
pub fn of(set: &Set) -> Vec<Step> {
    match set.format {
        Format::Elf => elf(set),
        Format::Pe => pe(set),
    }
}

/// The address range of library `index` from 0 when every one has its own. 256 MiB apart: room for the largest set.
fn base(first: u64, index: usize) -> u64 {
    first + ((index as u64) << 28)
}

struct Words(Vec<String>);

impl Words {
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|&word| word.to_owned()).collect())
    }
    fn add(&mut self, word: impl Into<String>) -> &mut Self {
        self.0.push(word.into());
        self
    }
    fn add_if(&mut self, when: bool, word: &str) -> &mut Self {
        if when {
            self.add(word);
        }
        self
    }
}

fn elf(set: &Set) -> Vec<Step> {
    let cc = |args: Words, makes: &str| Step {
        program: "cc".to_owned(),
        args: args.0,
        makes: makes.to_owned(),
    };
    let mut steps = Vec::new();
    if !set.has_libraries() {
        let mut args = common(set);
        args.add(if set.linkage == Linkage::Static {
            "-static"
        } else {
            "-static-pie"
        });
        args.add_if(set.linkage == Linkage::StaticPie, "-fPIE");
        linker(set, &mut args);
        args.add("-o").add(set.program_name()).add("app.c");
        for part in 1..=set.libraries {
            args.add(format!("lib{part}.c"));
        }
        return vec![cc(args, set.program_name())];
    }
    for (index, (name, parts)) in set.files().into_iter().enumerate() {
        let file = set.file_name(&name);
        let mut args = common(set);
        // Without the start files, whose own relocations are not what was asked for.
        args.add("-shared")
            .add("-fPIC")
            .add("-nostartfiles")
            .add("-nostdlib");
        args.add_if(set.symbolic, "-Wl,-Bsymbolic");
        args.add(format!("-Wl,-soname,{file}"));
        if set.distinct_bases {
            args.add(format!("-Wl,-Ttext-segment={:#x}", base(0x6000_0000_0000, index)));
        }
        linker(set, &mut args);
        args.add("-o").add(&*file);
        for part in &parts {
            args.add(format!("lib{part}.c"));
        }
        if set.cross > 0 && index > 0 {
            args.add(format!("./{}", set.file_name(&set.files()[index - 1].0)));
        }
        steps.push(cc(args, &file));
    }
    let mut args = common(set);
    // Found beside the program, wherever the folder is moved.
    args.add("-pie")
        .add("-fPIE")
        .add("-Wl,-rpath,$ORIGIN")
        .add("-Wl,--no-as-needed");
    linker(set, &mut args);
    args.add("-o").add(set.program_name()).add("app.c");
    for (name, _) in set.files() {
        args.add(format!("./{}", set.file_name(&name)));
    }
    steps.push(cc(args, set.program_name()));
    steps
}

fn common(set: &Set) -> Words {
    let mut args = Words::new(&["-O1", "-w"]);
    args.add_if(set.no_plt, "-fno-plt");
    // A table of addresses in code that may be replaced must stay one.
    args.add_if(
        set.references == References::Symbol,
        "-fno-semantic-interposition",
    );
    args
}

fn linker(set: &Set, args: &mut Words) {
    if let Some(name) = &set.linker {
        args.add(format!("-fuse-ld={name}"));
    }
    args.add(match set.hash {
        Hash::Gnu => "-Wl,--hash-style=gnu",
        Hash::Sysv => "-Wl,--hash-style=sysv",
        Hash::Both => "-Wl,--hash-style=both",
    });
    args.add(if set.now { "-Wl,-z,now" } else { "-Wl,-z,lazy" });
    if set.relr {
        args.add(if set.linker.as_deref() == Some("lld") {
            "-Wl,--pack-dyn-relocs=relr"
        } else {
            "-Wl,-z,pack-relative-relocs"
        });
    }
    if let Some(align) = set.align {
        args.add(format!("-Wl,-z,max-page-size={align}"));
    }
}

fn pe(set: &Set) -> Vec<Step> {
    const CC: &str = "x86_64-w64-mingw32-gcc";
    const DLLTOOL: &str = "x86_64-w64-mingw32-dlltool";
    /// Where this linker puts every library by itself.
    const FIRST: u64 = 0x1_8000_0000;
    let mut steps = Vec::new();
    let align = |args: &mut Words| {
        if let Some(align) = set.align {
            args.add(format!("-Wl,--file-alignment={align}"));
            args.add(format!("-Wl,--section-alignment={}", align.max(4096)));
        }
    };
    for (index, (name, parts)) in set.files().into_iter().enumerate() {
        let file = set.file_name(&name);
        let archive = format!("{name}.a");
        steps.push(Step {
            program: DLLTOOL.to_owned(),
            args: ["-d", &format!("{name}.def"), "-l", &archive, "-D", &file]
                .map(String::from)
                .to_vec(),
            makes: archive,
        });
        let mut args = Words::new(&["-O1", "-w", "-shared", "-nostartfiles", "-nostdlib"]);
        // No entry point: the C library's would bring imports and fixups of its own.
        args.add("-Wl,--entry=0");
        args.add("-Wl,--disable-auto-image-base");
        args.add(format!(
            "-Wl,--image-base={:#x}",
            base(FIRST, if set.distinct_bases { index } else { 0 })
        ));
        align(&mut args);
        args.add("-o").add(&*file).add(format!("{name}.def"));
        for part in &parts {
            args.add(format!("lib{part}.c"));
        }
        if set.cross > 0 && index > 0 {
            args.add(format!("{}.a", set.files()[index - 1].0));
        }
        steps.push(Step {
            program: CC.to_owned(),
            args: args.0,
            makes: file,
        });
    }
    let mut args = Words::new(&["-O1", "-w"]);
    align(&mut args);
    args.add("-o").add(set.program_name()).add("app.c");
    for (name, _) in set.files() {
        args.add(format!("{name}.a"));
    }
    steps.push(Step {
        program: CC.to_owned(),
        args: args.0,
        makes: set.program_name().to_owned(),
    });
    steps
}
