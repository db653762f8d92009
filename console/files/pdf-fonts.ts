// Serves the standard fonts that a PDF may use without embedding them, from the console's own files.
const files = import.meta.glob<string>('/../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}', {
  query: '?url',
  import: 'default',
});

export class PdfFonts {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const entry = Object.entries(files).find(([path]) => path.endsWith(`/${filename}`));
    if (entry === undefined) throw new Error(`There is no font ${filename}.`);
    const answer = await fetch(await entry[1]());
    return new Uint8Array(await answer.arrayBuffer());
  }
}
