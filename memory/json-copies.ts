// The memory that a JSON text from PostgreSQL takes, in bytes per byte of the text.

/** The driver's copy, the text (JavaScript may use two bytes per character), and the bytes of an answer. */
export const TEXT_COPIES = 4;

/** The same copies and the parsed value: drawings are mostly small objects, which take more than their text. */
export const PARSED_COPIES = 8;

/** The copies by the form in which a drawing is read. */
export const COPIES = { text: TEXT_COPIES, parsed: PARSED_COPIES } as const;
