// Questions to the database that are asked at the same time are asked in one statement.

export interface TogetherOptions {
  /** In one statement; one is under way at a time, and further questions wait and go together. */
  most: number;
  /** Nothing is under way, and nobody waits. */
  onIdle?: () => void;
}

interface Waiting<Question, Answer> {
  question: Question;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * `ask` gets one answer a question, in their order; what it throws is thrown to all. A question joins no statement that
 * has been sent: what the database says was true after it was put.
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
      // Requests that have come in together are all here by then.
      setImmediate(() => {
        isPlanned = false;
        if (!isUnderWay && waiting.length > 0) void send();
      });
    });
}
