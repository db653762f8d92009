// The pages of a request: the code of each round of the loop that sends it.

/**
 * `pageBefore(inputs.last)`: the output of the previous round. `answerOf(inputs.answer)`: the answer as
 * expressions read it. `takePage(answer, how, parameters)`: the items so far, and whether this page is the last.
 */
export const PAGES = String.raw`
const pageBefore = (last) => (isObject(last) ? last : { items: [], size: 0, repeats: 0, response: {} });
const answerOf = ({ json, text, headers, statusCode }) => {
  const isJson = String(headers['content-type'] ?? '').includes('application/json');
  return { body: isJson && json !== '' ? json : text, headers, statusCode };
};
const bodyAsJson = ({ json }) => {
  if (json === '') throw new Error('Response body is not valid JSON. Change "Response Format" to "Text"');
  return json;
};
const itemsOfPage = (answer, { format, isWhole, property }) => {
  const { body, headers, statusCode } = answerOf(answer);
  const isText = format === 'text' || (format === 'autodetect' && body === answer.text);
  const content = isText ? answer.text : bodyAsJson(answer);
  if (isWhole) return [{ [isText ? property : 'body']: content, headers, statusCode }];
  return isText ? [{ [property]: content }] : itemsOf([content]);
};
const takePage = (answer, how, { limit, complete }) => {
  const { last, count } = how;
  const { body, statusCode } = answerOf(answer);
  const page = itemsOfPage(answer, how);
  const contents = (list) => (how.isWhole ? list.map((item) => item.body ?? item[how.property]) : list);
  const isSame = count > 1 && last.size === page.length && isEqual(contents(last.items.slice(last.items.length - last.size)), contents(page));
  const repeats = isSame ? last.repeats + 1 : 0;
  if (repeats > 3) throw new Error('The returned response was identical 5x, so requests got stopped');
  const isComplete = {
    responseIsEmpty: () => (Array.isArray(body) ? body.length === 0 : !body),
    receiveSpecificStatusCodes: () => how.statusCodes.includes(statusCode),
    other: () => Boolean(complete),
  }[how.ends];
  const isDone = (Number(limit) > 0 && count >= Number(limit)) || isComplete();
  if (!isDone && (statusCode < 200 || statusCode >= 300)) throw new Error('A page was answered with status ' + statusCode);
  const items = [...last.items, ...page];
  return {
    items: isDone && how.isFilled && items.length === 0 ? [{}] : items,
    size: page.length,
    repeats,
    isDone,
    ...(how.keepsAnswer && { response: answerOf(answer) }),
  };
};
`;
