import './field.css';
import './search-field.css';

interface SearchFieldProps {
  /** The accessible name, such as `Search workflows`. */
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The searchbox of a page: the key `/` leads to it. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  return (
    <input
      type="search"
      className="control search-field"
      aria-label={label}
      aria-keyshortcuts="/"
      placeholder={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
