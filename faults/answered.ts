// Checks the invariant about answers: if clients send several answers to a node, exactly the accepted one counts.
import type { AnsweredResult, ExpectedNode, GivenAnswer, RunEvidence } from './evidence.js';
import type { Report } from './report.js';

export function checkAnswered({ expected, answers, firstTerminal }: RunEvidence, report: Report): void {
  for (const node of expected) {
    const { answerOf } = node;
    if (answerOf === undefined) continue;
    const given = answers.filter(({ nodeId }) => nodeId === node.id);
    const result: AnsweredResult | undefined = firstTerminal?.nodes[node.id]?.result;
    checkNode(node, { given, counted: result && answerOf(result) }, report);
  }
}

interface Answered {
  given: GivenAnswer[];
  /** The answer in the node's result. */
  counted: string | undefined;
}

function checkNode({ label }: ExpectedNode, { given, counted }: Answered, report: Report): void {
  const textsOf = (outcome: GivenAnswer['outcome']): string[] =>
    given.filter((answer) => answer.outcome === outcome).map(({ text }) => text);
  const accepted = textsOf('accepted');
  if (accepted.length > 1) report('one answer', `${label} has accepted ${accepted.length} answers`);
  if (counted === undefined) return;
  // A lost answer may have been accepted although its client received no response.
  const possible = accepted.length > 0 ? accepted : textsOf('lost');
  if (!possible.includes(counted)) {
    report('one answer', `${label} has got "${counted}", and accepted was ${possible.join(', ') || 'nothing'}`);
  }
}
