//! From what was found to the document.

use image::elf::closure::{self, Ending};
use image::elf::estimate::{Estimate, UnitCosts};
use image::elf::facts::{Facts, TlsModels};
use image::elf::lookup::{Linker, Tally};
use image::elf::relocations::Counts;
use image::elf::search::{Outcome, Reason};
use image::elf::symbols::{Symbol, Symbols};
use image::elf::{Image, Kind, Unreadable};
use record::format::inspect::elf as wire;

use super::Loaded;

/// A file by itself.
pub fn alone(facts: &Facts) -> wire::Inspection {
    wire::Inspection {
        file: file(facts),
        symbols: None,
        closure: None,
        heap: None,
    }
}

/// Its symbols.
pub fn symbols(image: &Image<'_>) -> Result<wire::Symbols, Unreadable> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let version = |symbol: &Symbol<'_>| symbol.version.map(|version| text(version.name));
    let all = Symbols::read(image)?.all(&mut image.budget())?;
    let exported = all.iter().filter(|symbol| symbol.is_export());
    let imported = all.iter().filter(|symbol| symbol.is_import());
    Ok(wire::Symbols {
        exported: exported
            .map(|symbol| wire::Exported {
                name: text(symbol.name),
                version: version(symbol),
                default: !symbol.hidden,
            })
            .collect(),
        imported: imported
            .map(|symbol| wire::Imported {
                name: text(symbol.name),
                version: version(symbol),
                library: symbol.version.and_then(|version| version.file).map(text),
                weak: symbol.binding == image::elf::symbols::Binding::Weak,
            })
            .collect(),
    })
}

fn file(facts: &Facts) -> wire::File {
    wire::File {
        machine: facts.machine.name().to_owned(),
        kind: match facts.kind {
            Kind::Program => "program",
            Kind::Pie => "pie",
            Kind::Static => "static",
            Kind::StaticPie => "static_pie",
            Kind::Library => "library",
        }
        .to_owned(),
        size_bytes: facts.size,
        interpreter: facts.interpreter.clone(),
        soname: facts.soname.clone(),
        needed: facts.needed.clone(),
        rpath: facts.rpath.clone(),
        runpath: facts.runpath.clone(),
        filters: facts.filters.clone(),
        bind_now: facts.bind_now,
        symbolic: facts.symbolic,
        nodelete: facts.nodelete,
        static_tls: facts.static_tls,
        flags_1: facts.flags_1.iter().map(|&flag| flag.to_owned()).collect(),
        hash_style: facts.hash.name().to_owned(),
        dynamic_symbols: facts.symbols,
        exports: facts.exports,
        ifuncs: facts.ifuncs,
        imports: facts.imports,
        relocations: relocations(&facts.relocations),
        textrel: facts.textrel,
        base: format!("{:#x}", facts.base),
        mappings: facts.mappings,
        tls_bytes: facts.tls,
        tls_models: models(facts.tls_models),
        build_id: facts.build_id.clone(),
    }
}

fn models(models: TlsModels) -> Vec<String> {
    [
        (models.general_dynamic, "general_dynamic"),
        (models.initial_exec, "initial_exec"),
        (models.descriptors, "descriptors"),
    ]
    .into_iter()
    .filter(|(used, _)| *used)
    .map(|(_, name)| name.to_owned())
    .collect()
}

fn relocations(counts: &Counts) -> wire::Relocations {
    wire::Relocations {
        relative: counts.relative,
        packed: counts.packed,
        packed_words: counts.packed_words,
        glob_dat: counts.glob_dat,
        jump_slot: counts.jump_slot,
        absolute: counts.absolute,
        copy: counts.copy,
        irelative: counts.irelative,
        tls_module: counts.tls_module,
        tls_offset: counts.tls_offset,
        tls_static: counts.tls_static,
        tls_descriptor: counts.tls_descriptor,
        other: counts.other,
        pages: counts.pages,
        relative_pages: counts.relative_pages,
    }
}

/// A program with all that is loaded for it.
pub fn closure(loaded: &Loaded) -> wire::Closure {
    let closure = &loaded.closure;
    let mut tallies = vec![(Tally::default(), Tally::default()); closure.objects.len()];
    // Damaged files were found when the work was counted.
    let mut refusals = Vec::new();
    if let Ok(linker) = Linker::new(closure) {
        refusals = image::elf::promises::broken(closure, &linker);
        let _ = linker.resolve(&mut |resolution| {
            if let Some((eager, lazy)) = tallies.get_mut(resolution.object) {
                if resolution.lazy { lazy } else { eager }.add(resolution);
            }
        });
    }
    let objects = closure.objects.iter().zip(&loaded.facts).zip(&tallies);
    let estimate = loaded.estimate();
    let work = &loaded.work;
    wire::Closure {
        objects: objects
            .map(|((object, facts), (eager, lazy))| wire::Object {
                path: object.path.clone(),
                role: role(object.role),
                loaded_by: object.loaded_by,
                file: file(facts),
                eager: lookups(eager),
                lazy: lookups(lazy),
            })
            .collect(),
        scope: closure.scope.clone(),
        searches: closure.searches.iter().map(search).collect(),
        refusals,
        library_path: loaded.loader.library_path.clone(),
        preload: loaded
            .loader
            .preload
            .iter()
            .chain(&loaded.loader.system_preload)
            .cloned()
            .collect(),
        bind_now: closure.bind_now,
        secure: loaded.loader.secure,
        work: wire::Work {
            libraries: work.libraries,
            misses: work.misses,
            folder_checks: work.folder_checks,
            relative: work.relative,
            relative_pages: work.relative_pages,
            symbol_pages: work.symbol_pages,
            table_pages: work.table_pages,
            sysv_only: work.sysv_only,
            eager: lookups(&work.eager),
            lazy: lookups(&work.lazy),
        },
        unit_costs_ns: loaded.costs.as_ref().map(costs),
        estimate_us: estimate.as_ref().map(phases),
        measured_entry_us: None,
        remedy: estimate
            .as_ref()
            .zip(loaded.costs.as_ref())
            .map(|(estimate, costs)| work.remedy(estimate, costs)),
        notes: closure.notes.clone(),
    }
}

fn role(role: closure::Role) -> wire::Role {
    match role {
        closure::Role::Program => wire::Role::Program,
        closure::Role::Loader => wire::Role::Loader,
        closure::Role::Preloaded => wire::Role::Preloaded,
        closure::Role::Library => wire::Role::Library,
    }
}

fn lookups(tally: &Tally) -> wire::Lookups {
    wire::Lookups {
        lookups: tally.lookups,
        again: tally.again,
        own: tally.own,
        unresolved: tally.unresolved,
        missing: tally.missing,
        libraries: tally.cost.libraries,
        rejected: tally.cost.rejected,
        chain: tally.cost.chain,
        comparisons: tally.cost.comparisons,
    }
}

fn search(search: &closure::Search) -> wire::Search {
    let (ending, object, refused) = match &search.ending {
        Ending::Loaded(object) => (wire::Ending::Loaded, Some(*object), None),
        Ending::Known(object) => (wire::Ending::Known, Some(*object), None),
        Ending::SameFile(object) => (wire::Ending::SameFile, Some(*object), None),
        Ending::Missing => (wire::Ending::Missing, None, None),
        Ending::Refused(why) => (wire::Ending::Refused, None, Some(why.clone())),
    };
    wire::Search {
        name: search.name.clone(),
        needed_by: search.needed_by,
        places: search.places.iter().map(place).collect(),
        ending,
        object,
        refused,
    }
}

fn place(place: &image::elf::search::Place) -> wire::Place {
    let (reason, of) = match place.reason {
        Reason::Rpath(object) => (wire::Reason::Rpath, Some(object)),
        Reason::Runpath(object) => (wire::Reason::Runpath, Some(object)),
        Reason::LibraryPath => (wire::Reason::LibraryPath, None),
        Reason::Cache => (wire::Reason::Cache, None),
        Reason::Default => (wire::Reason::Default, None),
        Reason::Path => (wire::Reason::Path, None),
    };
    wire::Place {
        path: place.path.clone(),
        reason,
        of,
        outcome: match place.outcome {
            Outcome::Found => wire::Outcome::Found,
            Outcome::Missing => wire::Outcome::Missing,
            Outcome::OtherMachine => wire::Outcome::OtherMachine,
            Outcome::Refused => wire::Outcome::Refused,
        },
    }
}

fn costs(costs: &UnitCosts) -> wire::Costs {
    wire::Costs {
        miss: costs.miss,
        library: costs.library,
        relative: costs.relative,
        copied_page: costs.copied_page,
        read_page: costs.read_page,
        step: costs.step,
        step_rehashed: costs.step_rehashed,
    }
}

fn phases(estimate: &Estimate) -> wire::Estimate {
    wire::Estimate {
        search: estimate.search,
        mapping: estimate.mapping,
        relative: estimate.relative,
        lookup: estimate.lookup,
        faults: estimate.faults,
        total: estimate.total(),
    }
}
