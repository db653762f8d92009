// Questions to the database are asked in batches: those that are asked at the same time share one statement.
import { onNobodysBehalf } from './tenants.js';

interface TogetherOptions {
  /**
   * The largest number of questions in one statement. One statement runs at a time; further questions wait for the
   * next.
   */
  most: number;
  /** Called when no statement runs and no question waits. */
  onIdle?: () => void;
}

interface Waiting<Question, Answer> {
  question: Question;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * `ask` returns one answer per question, in their order; its error is thrown to all of them. A question never joins a
 * statement that has already been sent, so its answer is never older than the question.
 */
export function together<Question, Answer>(
  ask: (questions: Question[]) => Promise<Answer[]>,
  { most, onIdle }: TogetherOptions,
): (question: Question) => Promise<Answer> {
  const waiting: Waiting<Question, Answer>[] = [];
  let isUnderWay = false;
  let isPlanned = false;

  async function send(): Promise<void> {
    const group = waiting.splice(0, most);
    isUnderWay = true;
    try {
      const answers = await ask(group.map(({ question }) => question));
      group.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    isUnderWay = false;
    if (waiting.length > 0) void send();
    else onIdle?.();
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (isPlanned) return;
      isPlanned = true;
      // Requests that arrived in the same turn of the event loop have joined the batch by then.
      setImmediate(() => {
        isPlanned = false;
        if (!isUnderWay && waiting.length > 0) void onNobodysBehalf(send);
      });
    });
}

/**
 * Batches the questions of each name apart: those that are asked while another question of their name is under way share a
 * statement, and no name waits for another.
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
