//! Locale variables.

pub(super) fn unicode() -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let Some(locale) = names
        .iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty())
    else {
        return false;
    };
    is_utf8(&locale.to_string_lossy())
}

fn is_utf8(locale: &str) -> bool {
    let set = locale
        .split('.')
        .nth(1)
        .unwrap_or_default()
        .split('@')
        .next()
        .unwrap_or_default()
        .to_lowercase();
    set == "utf-8" || set == "utf8"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_set_is_what_counts() {
        assert!(is_utf8("de_DE.UTF-8") && is_utf8("C.utf8") && is_utf8("sr_RS.UTF-8@latin"));
        assert!(!is_utf8("C") && !is_utf8("POSIX") && !is_utf8("de_DE.ISO-8859-1@euro") && !is_utf8("ja_JP"));
    }
}
