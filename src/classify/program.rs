//! The name of the program that a command line runs.

/// What may stand before a program and leaves its exit code as it is.
struct Wrapper {
    name: &'static str,
    /// The words that make it one.
    first: &'static [&'static str],
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options with a value.
    valued: &'static [&'static str],
}

/// It has a length of time before the program, and these exit codes of its own.
const TIMEOUT: &str = "timeout";
const EXPIRED: [i64; 2] = [124, 137];

const WRAPPERS: [Wrapper; 8] = [
    Wrapper {
        name: "sudo",
        first: &[],
        flags: &["-E", "-H", "-n", "-S", "-A", "-k", "--preserve-env", "--non-interactive"],
        valued: &["-u", "-g", "-p", "-h", "-D", "--user", "--group", "--preserve-env"],
    },
    Wrapper {
        name: "env",
        first: &[],
        flags: &["-", "-i", "--ignore-environment"],
        valued: &["-u", "-C", "--unset", "--chdir"],
    },
    Wrapper { name: "time", first: &[], flags: &["-p", "-v"], valued: &["-f", "-o"] },
    Wrapper { name: "nohup", first: &[], flags: &[], valued: &[] },
    Wrapper { name: "nice", first: &[], flags: &[], valued: &["-n", "--adjustment"] },
    Wrapper {
        name: TIMEOUT,
        first: &[],
        flags: &["-v", "--verbose", "--foreground", "--preserve-status"],
        valued: &["-k", "-s", "--kill-after", "--signal"],
    },
    Wrapper {
        name: "uv",
        first: &["run"],
        flags: &["-q", "--quiet", "--frozen", "--locked", "--no-sync", "--isolated"],
        valued: &["-p", "--python", "--with", "--extra", "--group", "--project", "--directory"],
    },
    Wrapper {
        name: "poetry",
        first: &["run"],
        flags: &["-q", "--quiet", "-n", "--no-interaction"],
        valued: &["-C", "--directory", "-P", "--project"],
    },
];
const PYTHON_FLAGS: [&str; 13] =
    ["-u", "-B", "-E", "-I", "-O", "-OO", "-P", "-S", "-b", "-bb", "-q", "-s", "-v"];
const PYTHON_VALUED: [&str; 2] = ["-X", "-W"];

/// The last part of the first word's path, without `.exe`, `.cmd` or `.bat`; assignments and
/// wrappers such as `sudo` are passed over, and `python -m name` is `name`. Nothing where more than
/// one program may run, or where it is not certain which.
pub(super) fn program(command: &str, exit_code: Option<i64>) -> Option<&str> {
    let words = words(command)?;
    let mut rest = words.as_slice();
    loop {
        let word = take(&mut rest)?;
        if is_assignment(word) {
            continue;
        }
        let mut name = base(word);
        if name.strip_prefix("python").is_some_and(is_version) {
            options(&mut rest, &PYTHON_FLAGS, &PYTHON_VALUED)?;
            match rest.first().copied() {
                Some("-m") => name = rest.get(1).copied()?,
                Some(option) if option.starts_with('-') && !matches!(option, "-" | "-c") => {
                    return None;
                }
                _ => return Some(name),
            }
            rest = rest.get(2..)?;
        }
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
            return Some(name).filter(|name| !name.is_empty());
        };
        if !rest.starts_with(wrapper.first) {
            // Options before `run` are not known.
            let is_hidden = rest.first().is_some_and(|word| word.starts_with('-'))
                && wrapper.first.iter().all(|word| rest.contains(word));
            return Some(name).filter(|_| !is_hidden);
        }
        rest = rest.get(wrapper.first.len()..)?;
        options(&mut rest, wrapper.flags, wrapper.valued)?;
        if rest.first().is_some_and(|word| word.starts_with('-') && *word != "--") {
            return None;
        }
        if rest.first() == Some(&"--") {
            take(&mut rest);
        }
        if wrapper.name == TIMEOUT {
            let is_length = take(&mut rest)?.starts_with(|first: char| first.is_ascii_digit());
            if !is_length || exit_code.is_some_and(|code| EXPIRED.contains(&code)) {
                return Some(name);
            }
        }
    }
}

fn take<'a>(words: &mut &[&'a str]) -> Option<&'a str> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    Some(first)
}

/// Takes the options that are known; nothing when the value of one is missing.
fn options(words: &mut &[&str], flags: &[&str], valued: &[&str]) -> Option<()> {
    while let Some(word) = words.first() {
        let has_own_value = if word.starts_with("--") {
            word.split_once('=').is_some_and(|(name, _)| valued.contains(&name))
        } else {
            word.len() > 2 && word.get(..2).is_some_and(|name| valued.contains(&name))
        };
        let taken = if flags.contains(word) || has_own_value {
            1
        } else if valued.contains(word) {
            2
        } else {
            break;
        };
        *words = words.get(taken..)?;
    }
    Some(())
}

/// The words without quotes around them: white space inside quotes ends none. A quote that is not
/// closed is a letter. Nothing for a text of more than one command.
fn words(command: &str) -> Option<Vec<&str>> {
    let text = command.trim_ascii();
    if text.contains("\\\"") && text.contains([';', '|', '&', '\n']) {
        // What is inside quotes depends on who reads it.
        return None;
    }
    let bytes = text.as_bytes();
    let (mut words, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(byte) = bytes.get(at) {
        let after = bytes.get(at + 1..).unwrap_or_default();
        let mut length = 1;
        match byte {
            b'"' | b'\'' => {
                length += after.iter().position(|next| next == byte).map_or(0, |inside| inside + 1);
            }
            b'\\' if after.first().is_some_and(|next| b"\\;|&\n".contains(next)) => length = 2,
            b';' | b'|' | b'\n' => return None,
            b'&' if !at
                .checked_sub(1)
                .and_then(|last| bytes.get(last))
                .is_some_and(|last| b"<>".contains(last)) =>
            {
                return None;
            }
            space if space.is_ascii_whitespace() => {
                words.extend(text.get(start..at).filter(|word| !word.is_empty()));
                start = at + 1;
            }
            _ => {}
        }
        at += length;
    }
    words.extend(text.get(start..).filter(|word| !word.is_empty()));
    for word in &mut words {
        *word = word.trim_matches(['"', '\'']);
    }
    Some(words)
}

fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let (stem, extension) =
        name.split_at_checked(name.len().saturating_sub(4)).unwrap_or((name, ""));
    let is_known =
        [".exe", ".cmd", ".bat"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    if is_known { stem } else { name }
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
            ("C:\\nodejs\\npm.CMD ci", Some("npm")),
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
            assert_eq!(program(command, Some(1)), wanted, "{command}");
        }
    }

    #[test]
    fn wrappers_are_seen_through_where_it_is_certain() {
        for (command, wanted) in [
            ("env -u X -i A=1 git push", Some("git")),
            ("env --unset=X git push", Some("git")),
            ("env -S 'git push'", None),
            ("sudo -E -u deploy git pull", Some("git")),
            ("sudo -udeploy -- git pull", Some("git")),
            ("sudo -l", None),
            ("sudo -u", None),
            ("timeout -k 5 --signal=INT 60 curl x", Some("curl")),
            ("timeout 60", None),
            ("timeout x curl", Some("timeout")),
            ("uv run --frozen pytest", Some("pytest")),
            ("uv run --new-option x pytest", None),
            ("uv --offline run pytest", None),
            ("uv pip install x", Some("uv")),
            ("uv", Some("uv")),
            ("poetry run python -X dev -m pytest", Some("pytest")),
            ("python -m poetry run pytest", Some("pytest")),
            ("python -Wd -m pip install x", Some("pip")),
            ("python -x y -m pip", None),
            ("python -c 'import x'", Some("python")),
        ] {
            assert_eq!(program(command, Some(1)), wanted, "{command}");
        }
    }

    #[test]
    fn what_ran_out_of_time_is_the_timeout() {
        assert_eq!(program("timeout 5 git fetch", Some(124)), Some("timeout"));
        assert_eq!(program("timeout 5 git fetch", Some(128)), Some("git"));
    }

    #[test]
    fn of_more_than_one_command_none_is_the_program() {
        for compound in ["a; b", "a && b", "a || b", "a | b", "a &", "a\nb", "grep \"\\\" ; b\" x"]
        {
            assert_eq!(program(compound, None), None, "{compound}");
        }
        for one in ["a 'x; y'", "a \"x | y\"", "a 2>&1", "a \\;", "a \\\n b", " a\n", "a x=\"&&\""]
        {
            assert_eq!(program(one, None), Some("a"), "{one}");
        }
    }
}
