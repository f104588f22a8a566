//! Bound copies of ELF programs on disk.
//!
//! ```text
//! DIR/name                         the program's copy, which is run
//! DIR/.underhood/name-ID/          everything else, new for each time that the program is bound
//!     guard                        the interpreter of the copy
//!     lib/*                        the copies of its libraries
//!     bound.json                   what was bound from what
//! ```
//!
//! The program's copy is put in place last and in one step, so whoever starts it gets the old set or the new one. A folder that
//! no copy's interpreter lies in was left by somebody who was killed, or by the time before the last: the next binding removes it.

mod folder;
mod guard;
mod refusal;
mod verification;

use std::path::{Path, PathBuf};

use image::elf::Image;
use image::elf::bind::{self, Choice, Layout};
use image::elf::closure::Closure;
use image::elf::lookup::Linker;
use image::elf::moving::Call;
use image::elf::search::Loader;
use record::format::bound::{Document, Object, SCHEMA};

use crate::closure::{Wishes, load, unreadable};
use crate::exit::{COMMAND_FAILED, Failure, UNSUPPORTED};

pub use folder::{Set, documents, remove};
pub use refusal::stamp;
pub use verification::verified;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// The folder for the copy.
    pub out: PathBuf,
    /// Whether symbols are bound; otherwise files are only moved.
    pub bind: bool,
    /// Bind it also if it may notice where its copy lies.
    pub noticing: bool,
    /// Compare the loaded copy with the loaded original before it is put in place.
    pub verify: bool,
}

/// Makes a bound copy. `tell` hears what is done and how much of it is done, from 0 to 1.
pub fn make(request: &Request, tell: &mut dyn FnMut(f64, &str)) -> Result<Document, Failure> {
    let name = request.program.display().to_string();
    tell(0.0, "reading");
    let bytes =
        std::fs::read(&request.program).map_err(|error| Failure::usage(format!("read {name}: {error}")))?;
    let mut notes = refusal::check(&request.program, &bytes, request.noticing)?;
    let failed = |error| unreadable(&name, &error);
    let image = Image::parse(&bytes).map_err(failed)?;
    let (closure, loader) = load(&request.program, &bytes, &image, Wishes::OfTheSystem)?;
    let linker = Linker::new(&closure).map_err(failed)?;
    notes.extend(refusal::closure(&closure)?);

    let set = Set::new(&request.out, &request.program, &closure)?;
    tell(0.1, "binding");
    let work = Work {
        request,
        closure: &closure,
        linker: &linker,
        loader: &loader,
        set: &set,
    };
    let result = work.done(notes, tell);
    if result.is_err() {
        set.discard();
    }
    result
}

/// The bound copy of a program in the user's own folder, made now if there is none or if one of the originals has changed.
pub fn ensured(program: &Path) -> Result<PathBuf, Failure> {
    let program = std::path::absolute(program)?;
    let home = os::dirs::data_dir()?.join("bound");
    let digest = crate::apply::state::digest(program.as_os_str().as_encoded_bytes());
    let out = home.join(digest.get(..16).unwrap_or_default());
    if let Some(name) = program.file_name() {
        let copy = out.join(name);
        if folder::document_of(&copy).is_some_and(|document| is_current(&document)) {
            return Ok(copy);
        }
    }
    os::dirs::make_private(&home).map_err(|error| {
        let home = home.display();
        Failure::new(
            COMMAND_FAILED,
            format!("create {home}, where bound copies are kept: {error}"),
        )
    })?;
    let request = Request {
        program,
        out,
        bind: true,
        noticing: false,
        verify: true,
    };
    Ok(PathBuf::from(make(&request, &mut |_, _| {})?.copy))
}

/// A bound copy of a program (searched for in `PATH` when its name has no slash) that is removed with the second result.
pub fn temporary(program: &Path, noticing: bool) -> Result<(Document, tempfile::TempDir), Failure> {
    let path = std::env::var_os("PATH");
    let program = os::loader::find_in_path(program.as_os_str(), path.as_deref())
        .map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    let home = os::dirs::cache_dir()?;
    os::dirs::make_private(&home)?;
    let folder = crate::scratch::folder(&home)?;
    let request = Request {
        program: std::path::absolute(program)?,
        out: folder.path().to_owned(),
        bind: true,
        noticing,
        verify: false,
    };
    Ok((make(&request, &mut |_, _| {})?, folder))
}

/// Whether all originals and copies are as they were.
fn is_current(document: &Document) -> bool {
    let there = |path: &str| Path::new(path).exists();
    document.objects.iter().all(|object| {
        let same = stamp(Path::new(&object.file)).is_ok_and(|now| now == object.stamp);
        same && object.copy.as_deref().is_none_or(there)
    })
}

struct Work<'a> {
    request: &'a Request,
    closure: &'a Closure,
    linker: &'a Linker<'a>,
    loader: &'a Loader,
    set: &'a Set,
}

impl Work<'_> {
    fn done(&self, notes: Vec<String>, tell: &mut dyn FnMut(f64, &str)) -> Result<Document, Failure> {
        let name = self.request.program.display();
        let refused = |why: bind::Refusal| Failure::new(UNSUPPORTED, format!("bind {name}: {why}"));
        let wishes = bind::Wishes {
            bind: self.request.bind,
            path_of: &|object| self.set.path_of(object),
            interpreter: &self.set.guard(),
        };
        let choice = Choice::of(self.closure, self.linker, self.loader, wishes).map_err(refused)?;
        let (layout, fills, guard) = self.placed(&choice)?;
        let calls = |object: usize| -> Option<Call> { guard.call(object) };
        let copies = choice.copies(&layout, &calls).map_err(refused)?;
        tell(0.2, "writing");
        let count = copies.len();
        for (done, copy) in copies.iter().enumerate() {
            self.set.write(copy.object, &copy.file.bytes)?;
            tell(0.2 + 0.6 * done as f64 / count as f64, "writing");
        }
        let objects = self.objects(&choice, &layout, &copies, &fills)?;
        let mut document = Document {
            schema: SCHEMA.to_owned(),
            program: self.request.program.display().to_string(),
            copy: self.set.copy().display().to_string(),
            folder: self.set.folder().display().to_string(),
            bound: self.request.bind,
            noticing: self.request.noticing,
            begin: format!("{:#x}", layout.begin),
            end: format!("{:#x}", layout.end),
            objects,
            notes,
            verified: None,
        };
        let debug = copies
            .iter()
            .find(|copy| copy.object == 0)
            .and_then(|copy| copy.file.debug);
        let guard = guard.filled(self, &choice, &fills, debug)?;
        self.set.complete(&guard, &document)?;
        if self.request.verify {
            tell(0.9, "comparing");
            document.verified = Some(verification::equal(&document, &self.set.now(0))?);
            self.set.note(&document)?;
        }
        self.set.put_in_place()?;
        tell(1.0, "done");
        Ok(document)
    }

    /// Where everything goes: the guard's size depends on how much it has to fill in.
    fn placed(&self, choice: &Choice<'_>) -> Result<(Layout, Vec<Vec<bind::Fill>>, guard::Guard), Failure> {
        let name = self.request.program.display();
        let refused = |why: bind::Refusal| Failure::new(UNSUPPORTED, format!("bind {name}: {why}"));
        let trial = choice.layout(folder::LOWEST, 0).map_err(refused)?;
        let fills = choice.fills(&trial).map_err(refused)?;
        let size = guard::Guard::size(self, choice, &fills)?;
        let begin = folder::random_begin(trial.end - trial.begin + size)?;
        let layout = choice.layout(begin, size).map_err(refused)?;
        let fills = choice.fills(&layout).map_err(refused)?;
        let naming = choice.may_call(0, &layout).map_err(refused)?;
        let guard = guard::Guard::at(layout.guard, &layout, &fills, naming)?;
        Ok((layout, fills, guard))
    }

    fn objects(
        &self,
        choice: &Choice<'_>,
        layout: &Layout,
        copies: &[bind::Copied],
        fills: &[Vec<bind::Fill>],
    ) -> Result<Vec<Object>, Failure> {
        let mut objects = Vec::new();
        for (index, object) in self.closure.objects.iter().enumerate() {
            let copied = copies
                .iter()
                .find(|copy| copy.object == index)
                .map(|copy| &copy.file);
            let stays = choice.stays(index).map(|stays| {
                let text = stays.to_string();
                let mut letters = text.chars();
                letters.next().map_or(String::new(), |first| {
                    format!("{}{}.", first.to_uppercase(), letters.as_str())
                })
            });
            let image = Image::parse(&object.bytes).map_err(|error| unreadable(&object.path, &error))?;
            objects.push(Object {
                file: object.path.clone(),
                copy: copied.map(|_| self.set.place_of(index).display().to_string()),
                stays,
                moved_by: layout
                    .moves
                    .get(index)
                    .copied()
                    .flatten()
                    .map(|by| format!("{by:#x}")),
                relative: copied.map_or(0, |file| file.relative),
                bound: copied.map_or(0, |file| file.bound),
                filled: copied.map_or(0, |_| fills.get(index).map_or(0, |fills| fills.len() as u64)),
                kept: copied.map_or(0, |file| file.kept),
                build_id: image.build_id(),
                stamp: stamp(Path::new(&object.path))?,
            });
        }
        Ok(objects)
    }
}
