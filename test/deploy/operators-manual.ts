// The commands of docs/operate/runbook.md, by the question that they answer.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface Answering {
  question: string;
  language: string;
  /** The lines of a shell block, or the whole block in another language. */
  commands: string[];
}

export function readQuestions(): Answering[] {
  const sections = readFileSync(path.resolve(import.meta.dirname, '../../docs/operate/runbook.md'), 'utf8')
    .split(/^### /m)
    .slice(1);
  return sections.flatMap((section) => {
    const question = section.split('\n')[0]!;
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].map(([, language = '', text = '']) => {
      return { question, language, commands: language === 'sh' ? text.split('\n') : [text] };
    });
  });
}
