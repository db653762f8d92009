// Rewrites the service's messages about single fields, which are worded for programs, in words for people.

export interface NamedField {
  title: string;
  /** True if the value is chosen from a list. */
  isChosen?: boolean;
}

/** Returns the message in words for people. `field` names what is missing; without it the sentence is general. */
export function toFieldWords(message: string, field?: NamedField): string {
  for (const [pattern, write] of RULES) {
    const match = pattern.exec(message);
    if (match !== null) return write(match.slice(1).map(String), field);
  }
  return message;
}

type Write = (parts: readonly string[], field: NamedField | undefined) => string;

const RULES: readonly (readonly [RegExp, Write])[] = [
  [/^(?:Field required|String should have at least 1 character)\.?$/, (_, field) => missing(field)],
  [/^This field (?:is required|may not be (?:blank|null))\.$/, (_, field) => missing(field)],
  [/^List should have at least 1 item after validation, not 0$/, () => 'Add at least one.'],
  [/^List should have at (least|most) (\d+) items? /, ([most, count]) => `There must be at ${most} ${count}.`],
  [
    /^String should have at (least|most) (\d+) characters?$/,
    ([most, count]) => `Enter at ${most} ${count} characters.`,
  ],
  [/^Ensure this field has no more than (\d+) (characters|elements)\.$/, ([count, what]) => atMost(count, what)],
  [/^Input should be greater than or equal to (.+)$/, ([least]) => `Enter ${least} or more.`],
  [/^Input should be less than or equal to (.+)$/, ([most]) => `Enter ${most} or less.`],
  [/^Ensure this value is greater than or equal to (.+)\.$/, ([least]) => `Enter ${least} or more.`],
  [/^Ensure this value is less than or equal to (.+)\.$/, ([most]) => `Enter ${most} or less.`],
  [/^Input should be a valid http or https URL$|^Enter a valid URL\.$/, () => ADDRESS],
  [/^Input should be a valid (\w+)$|^A valid (\w+) is required\.$/, ([one, other]) => ofType(one, other)],
  [/^Input should be another id than '(.*)'$/, ([id]) => `Another one has the ID ${id}. Enter another ID.`],
  [/^Input should be ('.*')$/, ([words]) => `Choose ${words?.replaceAll("'", '')}.`],
  // The message about an input of a run begins with the name of its field.
  [/^([\w.-]+): (.+)$/, ([name, rest], field) => `${name}: ${toFieldWords(rest ?? '', field)}`],
  [/^Input should (?:be|have) (.+?)\.?$/, ([what]) => `Enter ${what}.`],
];

const ADDRESS = 'Enter an address that begins with http:// or https://.';

function atMost(count: string | undefined, what: string | undefined): string {
  return what === 'characters' ? `Enter at most ${count} characters.` : `There must be at most ${count}.`;
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  dictionary: 'a JSON object',
  list: 'a list',
  boolean: 'true or false',
};

/** Only one of the two groups in the pattern of a type has matched. The other one arrives as the text `undefined`. */
function ofType(one: string | undefined, other: string | undefined): string {
  const type = one === 'undefined' ? other : one;
  return `Enter ${TYPES[type ?? ''] ?? `a valid ${type}`}.`;
}

/** Fields whose titles make no sentence behind `Enter the`. */
const MISSING: Readonly<Record<string, string>> = {
  url: 'Enter an address.',
  'endpoint url': 'Enter an address.',
  'webhook url': 'Enter an address.',
  left: 'Fill in the left side.',
  right: 'Fill in the right side.',
  code: 'Write the code.',
  items: 'Choose the list.',
  until: 'Enter a date and time.',
  duration: 'Enter how long it waits.',
};

function missing(field: NamedField | undefined): string {
  if (field === undefined) return 'Fill this in.';
  const title = field.title.toLowerCase();
  if (Object.hasOwn(MISSING, title)) return MISSING[title]!;
  return `${field.isChosen === true ? 'Choose' : 'Enter'} the ${inSentence(field.title)}.`;
}

/** Writes the first letter in lower case, unless the first word is an abbreviation such as `ID`. */
function inSentence(title: string): string {
  return /^\p{Lu}(?![\p{Lu}\d])/u.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
