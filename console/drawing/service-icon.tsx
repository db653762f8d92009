import './kind-icon.css';

/** The first letter of a service in a colour of its own. Hidden from screen readers: the name is beside it. */
export function ServiceIcon({ id, name }: { id: string; name: string }) {
  const letter = /[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase() ?? '?';
  return (
    // The letter is an attribute, so that it is no part of the text around it.
    <span className="kind-icon service-icon" aria-hidden="true" data-letter={letter} style={{ '--hue': hueOf(id) }} />
  );
}

/** Returns a hue in degrees. */
function hueOf(id: string): number {
  let sum = 0;
  for (const sign of id) sum = (sum * 31 + sign.codePointAt(0)!) % 9973;
  return (sum * 47) % 360;
}
