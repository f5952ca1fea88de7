//! Profiles of AWS's shared credentials file.

/// Keys and values of a profile, in the file's order; `None` if there is no such profile. `[profile
/// name]`, as in the file `config`, is matched too.
pub fn aws_profile(file: &str, name: &str) -> Option<Vec<(String, String)>> {
    let mut found: Option<Vec<(String, String)>> = None;
    let mut is_wanted = false;
    for line in file.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let section = section.trim();
            let section = section.strip_prefix("profile ").map_or(section, str::trim);
            is_wanted = section == name;
            if is_wanted {
                found.get_or_insert_default();
            }
        } else if let Some((key, value)) = line.split_once('=')
            && is_wanted
            && !line.starts_with(['#', ';'])
            && let Some(keys) = &mut found
        {
            keys.push((key.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_among_others() {
        let file = "[default]\naws_access_key_id = one\n\n[profile night]\n# a comment = x\n\
                    aws_access_key_id=two\nAWS_SECRET_ACCESS_KEY = s=e\n[other]\nregion = x\n";
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            aws_profile(file, "night"),
            Some(vec![pair("aws_access_key_id", "two"), pair("aws_secret_access_key", "s=e")])
        );
        assert_eq!(aws_profile(file, "default"), Some(vec![pair("aws_access_key_id", "one")]));
        assert_eq!(aws_profile(file, "none"), None);
    }
}
