//! What every command has: the common options, the seed, the store, and where JSON goes.

use std::path::PathBuf;

use clap::Args;
use record::model::{Run, RunId, Warning};
use record::store::Store;

use crate::exit::{self, COMMAND_FAILED, Failure};

/// The options that every command takes.
#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Write the result as JSON to a file; - is standard output, and then nothing else goes there
    #[arg(long, global = true, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Seed of everything random; drawn, and recorded, when absent
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// No progress and no remarks
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// The SQLite file that keeps runs; default: one file in the user's data directory
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_store")]
    pub store: Option<PathBuf>,
    /// Keep nothing
    #[arg(long, global = true)]
    pub no_store: bool,
}

/// What a command works with.
#[derive(Debug)]
pub struct Context {
    /// The common options.
    pub common: Common,
    /// The seed of this run.
    pub seed: u64,
}

impl Context {
    /// The context of these options.
    pub fn new(common: Common) -> Result<Self, Failure> {
        if let Some(path) = common.json.as_deref().filter(|path| path.as_os_str() != "-") {
            check_output(path)?;
        }
        let seed = common.seed.unwrap_or_else(|| fastrand::u64(..1 << 53));
        Ok(Self { common, seed })
    }

    /// True when standard output belongs to JSON.
    pub fn json_on_stdout(&self) -> bool {
        self.common
            .json
            .as_deref()
            .is_some_and(|path| path.as_os_str() == "-")
    }

    /// Where runs are kept, if they are.
    pub fn store_path(&self) -> Result<PathBuf, Failure> {
        match &self.common.store {
            Some(path) => Ok(path.clone()),
            None => Ok(os::dirs::data_dir()
                .map_err(|error| {
                    Failure::new(
                        COMMAND_FAILED,
                        format!(
                            "find the data directory: {error}; name a file with --store, or use --no-store"
                        ),
                    )
                })?
                .join("runs.sqlite")),
        }
    }

    /// Prints a report, unless standard output belongs to JSON.
    pub fn show(&self, text: &str) -> Result<(), Failure> {
        if self.json_on_stdout() {
            Ok(())
        } else {
            exit::print(text)
        }
    }

    /// A report as the terminal shows it: its width, and plain characters where the locale has no others.
    pub fn render(&self, report: &report::document::Report) -> String {
        let width =
            terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| usize::from(width.0));
        report::render::terminal::render(
            report,
            report::render::terminal::Terminal {
                width,
                unicode: os::locale::unicode(),
            },
        )
    }

    /// Writes the JSON document, if one was asked for. A file is written beside its place and moved into it, so
    /// that it is never half there.
    pub fn write_json(&self, document: &str) -> Result<(), Failure> {
        let Some(path) = &self.common.json else {
            return Ok(());
        };
        let text = format!("{}\n", document.trim_end());
        if self.json_on_stdout() {
            return exit::print(&text);
        }
        write_whole(path, &text)
    }

    /// Shows a report and writes its document: both are tried, whatever becomes of the other, since the
    /// measurement may have taken an hour.
    pub fn publish(&self, report: &report::document::Report, document: &str) -> Result<(), Failure> {
        let shown = self.show(&self.render(report));
        self.write_json(document).and(shown)
    }

    /// A remark on standard error.
    pub fn remark(&self, text: &str) {
        if !self.common.quiet {
            exit::say(text);
        }
    }

    /// Opens the recorder of a run. A store that cannot be used is a warning, never the end of a run.
    pub fn recorder(&self, header: &Run) -> Recorder {
        let mut recorder = Recorder {
            open: None,
            warnings: Vec::new(),
        };
        if self.common.no_store {
            return recorder;
        }
        let opened = self
            .store_path()
            .map_err(|failure| failure.message)
            .and_then(|path| {
                let mut store = Store::open(&path).map_err(|error| error.to_string())?;
                let id = store.begin(header).map_err(|error| error.to_string())?;
                Ok((store, id))
            });
        match opened {
            Ok(open) => recorder.open = Some(open),
            Err(reason) => recorder.give_up(&reason),
        }
        recorder
    }
}

/// Finds out before anything is measured that a result could not be written.
pub fn check_output(path: &std::path::Path) -> Result<(), Failure> {
    let failed = |why: &str| Failure::usage(format!("write {}: {why}", path.display()));
    if path.is_dir() {
        return Err(failed("it is a folder; name a file in it"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(failed("its folder does not exist; make it first"));
    }
    Ok(())
}

/// Writes a file as a whole or not at all.
pub fn write_whole(path: &std::path::Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(COMMAND_FAILED, format!("write {}: {error}", path.display()));
    // A device or a pipe has no place beside it.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, text).map_err(failed);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, path))
        .map_err(|error| {
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })
}

/// Records a run as it grows.
#[derive(Debug)]
pub struct Recorder {
    open: Option<(Store, RunId)>,
    /// What the reader must know about the recording.
    pub warnings: Vec<Warning>,
}

impl Recorder {
    fn give_up(&mut self, reason: &str) {
        self.open = None;
        self.warnings.push(Warning::new(
            "not-stored",
            format!("this run is not kept: failed to {reason}"),
        ));
    }

    /// Does something with the store; the first failure ends the recording with a warning.
    pub fn record<E: std::fmt::Display>(&mut self, write: impl FnOnce(&mut Store, RunId) -> Result<(), E>) {
        if let Some((store, id)) = &mut self.open
            && let Err(error) = write(store, *id)
        {
            self.give_up(&error.to_string());
        }
    }
}
