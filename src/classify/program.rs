//! The name of the program that a command line runs.

/// What may stand before the program without options of its own.
const BEFORE: [&str; 4] = ["sudo", "env", "time", "nohup"];

/// The last part of the first word's path, without `.exe`; assignments and words such as `sudo` are
/// passed over, and `python -m name` is `name`. White space inside quotes ends no word.
pub(super) fn program(command: &str) -> Option<&str> {
    let mut rest = command;
    let mut words = std::iter::from_fn(|| {
        let (word, after) = split_word(rest)?;
        rest = after;
        Some(word)
    })
    .skip_while(|word| is_assignment(word) || BEFORE.contains(&base(word)));
    let name = base(words.next()?);
    if name.strip_prefix("python").is_some_and(is_version) && words.next() == Some("-m") {
        return words.next().filter(|module| !module.is_empty());
    }
    Some(name).filter(|name| !name.is_empty())
}

/// The first word without quotes around it, and what follows. A quote that is not closed is a letter.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let mut end = 0;
    while let Some(letter) = text.get(end..)?.chars().next().filter(|next| !next.is_whitespace()) {
        end += letter.len_utf8();
        if matches!(letter, '"' | '\'') {
            end += text.get(end..)?.find(letter).map_or(0, |inside| inside + 1);
        }
    }
    let (word, rest) = text.split_at_checked(end)?;
    (!word.is_empty()).then(|| (word.trim_matches(['"', '\'']), rest))
}

fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let (stem, extension) =
        name.split_at_checked(name.len().saturating_sub(4)).unwrap_or((name, ""));
    if extension.eq_ignore_ascii_case(".exe") { stem } else { name }
}

fn is_version(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn the_program_is_named() {
        for (command, wanted) in [
            ("git", Some("git")),
            ("docker run --rm img cmd", Some("docker")),
            ("/usr/bin/grep -r x", Some("grep")),
            ("C:\\tools\\kubectl.exe get", Some("kubectl")),
            ("sudo LANG=C apt-get install", Some("apt-get")),
            ("python3.12 -m pytest -q", Some("pytest")),
            ("python script.py", Some("python")),
            ("", None),
            ("sudo", None),
            ("\"C:\\Program Files\\Git\\cmd\\git.exe\" push", Some("git")),
            ("'/opt/my tools/grep' -r x", Some("grep")),
            ("LANG='a b' \"git\" status", Some("git")),
            ("it's", Some("it's")),
            ("'' git", None),
            ("/", None),
        ] {
            assert_eq!(program(command), wanted, "{command}");
        }
    }
}
