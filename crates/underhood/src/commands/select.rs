//! `select`: heaps for finished programs, chosen by rules, for good, with undo.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use os::loader::{classify, find_in_path};
use suites::remedy::{Kind, Remedy};

use crate::apply::ledger::Ledger;
use crate::apply::library::{self, Library};
use crate::apply::places::{Places, Scope};
use crate::apply::selection::{self, Rules};
use crate::apply::trial;
use crate::context::Context;
use crate::exit::{self, CHECK_FAILED, COMMAND_FAILED, Done, Failure, UNSUPPORTED};
use crate::machine;

/// The name of the record of a selection.
const RECORD: &str = "select";

/// Arguments of `select`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Rules: PATTERN=HEAP, separated by ; the last that matches wins. A pattern with a slash is compared with the\n\
    program's resolved path, one without with its name; * stands for anything, ? for one byte.\n\
    Heaps: system, mimalloc, jemalloc, snmalloc. Example: '*=mimalloc;/usr/bin/buggy=system;*/java=jemalloc'\n\
    Exit codes: 0 done; 1 it could not be written; 2 usage; 3 not supported here; 4 refused, or programs behave differently."
)]
pub struct Args {
    /// The rules; with --show a program to look up; with --undo the launcher or drop-in to take back
    #[arg(value_name = "RULES")]
    text: Option<OsString>,
    /// For this user: sessions that systemd starts from the next login on
    #[arg(long, conflicts_with = "system")]
    user: bool,
    /// For the machine: all programs that start from now on; needs root
    #[arg(long)]
    system: bool,
    /// Show what is set, and for a program which rule wins
    #[arg(long, conflicts_with = "undo")]
    show: bool,
    /// Take the choice back and restore what was there before
    #[arg(long)]
    undo: bool,
    /// Also overwrite what is not ours, and undo what somebody changed since
    #[arg(long)]
    force: bool,
    /// Prepare the system below this folder instead of the running one
    #[arg(long, value_name = "DIR", hide = true)]
    root: Option<PathBuf>,
}

/// Runs `select`.
pub fn run(args: Args, context: &Context) -> Result<Done, Failure> {
    if bundle::find("selector").is_none() {
        let why =
            "choosing heaps for finished programs needs preloading, which Linux with the GNU C library has";
        return Err(Failure::new(UNSUPPORTED, format!("select: {why}")));
    }
    if args.show {
        return show(&args);
    }
    let scope = match (args.user, args.system) {
        (true, _) => Some(Scope::User),
        (_, true) => Some(Scope::System),
        _ => None,
    };
    match (args.undo, scope, &args.text) {
        (true, None, Some(file)) => undo_file(Path::new(file), &args, context),
        (true, Some(scope), None) => undo(&Places::of(scope, args.root.as_deref())?, &args, context),
        (true, ..) => Err(Failure::usage(
            "undo: say what with --user, --system, or the file of a launcher or drop-in",
        )),
        (false, Some(scope), Some(text)) => apply(
            &Places::of(scope, args.root.as_deref())?,
            &Rules::read(text)?,
            &args,
            context,
        ),
        (false, None, Some(text)) => {
            Rules::read(text)?;
            Err(Failure::usage("select: say for whom with --user or --system"))
        }
        (false, _, None) => Err(Failure::usage(
            "find heap rules; write, for example, select '*=mimalloc;/usr/bin/buggy=system' --user, or --show, or --undo",
        )),
    }
}

/// Makes a choice.
fn apply(places: &Places, rules: &Rules, args: &Args, context: &Context) -> Result<Done, Failure> {
    let library = Library::carried(places, "selector")?;
    let unpacked = machine::artifact("selector").map_err(|reason| Failure::new(UNSUPPORTED, reason))?;
    trial::run(&mut machine::launcher()?, &unpacked, rules)?;
    let files = selection::files(places, rules, &library);
    Ledger::named(places, RECORD).apply(&rules.0, std::slice::from_ref(&library), &files, args.force)?;
    for file in &files {
        context.remark(&format!("wrote {}", places.on_disk(&file.path).display()));
    }
    for caution in selection::cautions(places) {
        context.remark(&format!("underhood: {caution}"));
    }
    match places.scope {
        Scope::User => {
            context.remark(
                "It holds in sessions of systemd from the next login on. A shell outside of them needs:",
            );
            exit::print(&selection::exports(rules, &library.path))?;
        }
        Scope::System => context.remark("It holds for every program that starts from now on."),
    }
    Ok(Done::OK)
}

fn undo(places: &Places, args: &Args, context: &Context) -> Result<Done, Failure> {
    let restored = Ledger::named(places, RECORD)
        .undo(args.force)
        .inspect_err(|_| library::sweep(places))?;
    said(places, &restored, context);
    if places.scope == Scope::User {
        context.remark("Sessions that are running keep the variables until they end.");
    }
    Ok(Done::OK)
}

/// Takes back a launcher or a drop-in, whoever it was recorded for.
fn undo_file(file: &Path, args: &Args, context: &Context) -> Result<Done, Failure> {
    let path = std::path::absolute(file)
        .map_err(|error| Failure::new(COMMAND_FAILED, format!("resolve {}: {error}", file.display())))?;
    for scope in [Scope::User, Scope::System] {
        let places = Places::of(scope, args.root.as_deref())?;
        let ledger = Ledger::of_file(&places, &path);
        if ledger.read()?.is_some() {
            let restored = ledger.undo(args.force)?;
            said(&places, &restored, context);
            return Ok(Done::OK);
        }
    }
    let why = "no record says that Underhood wrote it; a launcher may be removed like any file";
    Err(Failure::new(
        CHECK_FAILED,
        format!("undo {}: {why}", path.display()),
    ))
}

fn said(places: &Places, restored: &[PathBuf], context: &Context) {
    if restored.is_empty() {
        context.remark("Everything was already as it had been before.");
    }
    for path in restored {
        let path = places.on_disk(path);
        let what = if path.exists() { "restored" } else { "removed" };
        context.remark(&format!("{what} {}", path.display()));
    }
    if let Some(kept) = library::kept(places) {
        context.remark(&kept);
    }
}

/// Tells what is set, and which rule wins for a program.
fn show(args: &Args) -> Result<Done, Failure> {
    let mut text = String::new();
    let mut sources = Vec::new();
    if let Some(rules) = std::env::var_os(selection::VARIABLE).filter(|_| args.root.is_none()) {
        let rules = rules.to_string_lossy().into_owned();
        let preloaded = std::env::var_os("LD_PRELOAD").unwrap_or_default();
        let name = bundle::find("selector").map_or("", |artifact| artifact.file_name);
        let remark = if preloaded.to_string_lossy().contains(name) {
            ""
        } else {
            " (without the library in LD_PRELOAD)"
        };
        text.push_str(&format!("this session  {rules}{remark}\n"));
        sources.push(("this session", rules));
    }
    for (scope, name) in [(Scope::User, "user"), (Scope::System, "system")] {
        let places = Places::of(scope, args.root.as_deref())?;
        let Some(record) = Ledger::named(&places, RECORD).read()? else {
            text.push_str(&format!("{name:<12}  nothing is set\n"));
            continue;
        };
        text.push_str(&format!("{name:<12}  {}\n", record.title));
        for file in record.files() {
            let state = match record.is_intact(&places, file) {
                Some(true) => "as we left it",
                _ if places.on_disk(file).exists() => "changed by somebody since",
                _ => "removed by somebody",
            };
            text.push_str(&format!(
                "{:<12}  {} ({state})\n",
                "",
                places.on_disk(file).display()
            ));
        }
        // The machine's rules are what the file says now; the user's are in the variables of the next login.
        let in_force = match scope {
            Scope::User => record.title,
            Scope::System => {
                std::fs::read_to_string(places.on_disk(&places.rules_file())).unwrap_or_default()
            }
        };
        sources.push((name, in_force));
    }
    if let Some(program) = &args.text {
        text.push_str(&decision(program, &sources)?);
    }
    exit::print(&text)?;
    Ok(Done::OK)
}

/// Which heap a program gets from each source, and whether it can get it at all.
fn decision(program: &OsStr, sources: &[(&str, String)]) -> Result<String, Failure> {
    let found = find_in_path(program, std::env::var_os("PATH").as_deref())
        .map_err(|error| Failure::new(COMMAND_FAILED, error.to_string()))?;
    let failed =
        |error: std::io::Error| Failure::new(COMMAND_FAILED, format!("resolve {}: {error}", found.display()));
    // The kernel runs a script's interpreter, and the rules see what the kernel runs.
    let program = classify(&found).ok();
    let running = program.as_ref().and_then(|program| match &program.format {
        os::loader::Format::Script { interpreter, .. } => Some(interpreter.clone()),
        _ => None,
    });
    let path = running
        .unwrap_or_else(|| found.clone())
        .canonicalize()
        .map_err(failed)?;
    let mut text = format!("{}\n", path.display());
    for (name, rules) in sources {
        let verdict = match selection::winner(rules.as_bytes(), &path) {
            Some((rule, heap)) => format!("{heap}, by the rule {rule}"),
            None if select_rules::parse(rules.as_bytes()).is_err() => {
                "system: the rules have a fault, so none is obeyed".to_owned()
            }
            None => "system: no rule matches".to_owned(),
        };
        text.push_str(&format!("  {name:<12}  {verdict}\n"));
    }
    if sources.is_empty() {
        text.push_str("  system: no rules are set\n");
    }
    let selector = machine::artifact("selector").map_err(|reason| Failure::new(UNSUPPORTED, reason))?;
    let heap = Remedy {
        name: "the selector".to_owned(),
        summary: String::new(),
        kind: Kind::Heap { library: selector },
        available: record::model::Support::Yes,
    };
    if let Some(obstacle) = program.and_then(|program| heap.obstacle(&program)) {
        text.push_str(&format!("  no rule can reach it: {}\n", obstacle.reason));
    }
    Ok(text)
}
