import { together } from './together.js';

/**
 * `together` for each name apart: questions of one name that are asked while another one is under way share a statement,
 * and no name waits for another.
 */
export function togetherByName<Question, Answer>(
  ask: (name: string, questions: Question[]) => Promise<Answer[]>,
  most: number,
): (name: string, question: Question) => Promise<Answer> {
  const groups = new Map<string, (question: Question) => Promise<Answer>>();
  return (name, question) => {
    let group = groups.get(name);
    if (group === undefined) {
      group = together((questions) => ask(name, questions), { most, onIdle: () => groups.delete(name) });
      groups.set(name, group);
    }
    return group(question);
  };
}
