// Batches questions to the database: questions that are asked at the same time share one statement.
import { onNobodysBehalf } from './tenants.js';

interface TogetherOptions {
  /**
   * The limit on questions in one statement. Only one such statement runs at a time; further questions wait for the
   * next one.
   */
  most: number;
  /**
   * If a statement of several questions fails, asks each of them alone, so that no question gets the error of another.
   * The next statement does not wait for their answers.
   */
  isolates?: boolean;
  /** Called when no statement runs and no question waits. */
  onIdle?: () => void;
}

interface Waiting<Question, Answer> {
  question: Question;
  resolve: (answer: Answer | Promise<Answer>) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches calls of `ask`, which returns one answer for each question, in order. An error of `ask` rejects all of its
 * questions, unless `isolates` is set. `ask` may return a promise in place of an answer; the next statement does not
 * wait for that promise. A question never joins a statement that was already sent, so its answer is never older than
 * the question.
 */
export function together<Question, Answer>(
  ask: (questions: Question[]) => Promise<(Answer | Promise<Answer>)[]>,
  { most, isolates = false, onIdle }: TogetherOptions,
): (question: Question) => Promise<Answer> {
  const waiting: Waiting<Question, Answer>[] = [];
  let isUnderWay = false;
  let isPlanned = false;

  async function answer(group: Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await ask(group.map(({ question }) => question));
      group.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (error) {
      for (const each of group) {
        if (isolates && group.length > 1) void answer([each]);
        else each.reject(error);
      }
    }
  }

  async function send(): Promise<void> {
    isUnderWay = true;
    await answer(waiting.splice(0, most));
    isUnderWay = false;
    if (waiting.length > 0) void send();
    else onIdle?.();
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (isPlanned) return;
      isPlanned = true;
      // Wait for the requests that arrived in the same iteration of the event loop.
      setImmediate(() => {
        isPlanned = false;
        if (!isUnderWay && waiting.length > 0) void onNobodysBehalf(send);
      });
    });
}

/** Batches the questions of each name separately, so that no name waits for another. */
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
