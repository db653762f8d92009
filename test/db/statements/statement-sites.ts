// Finds the places in the sources of `db/` at which statements are executed, and the declared types of their rows.
import path from 'node:path';
import {
  isCallExpression,
  isFunctionDeclaration,
  isIdentifier,
  isPropertyAccessExpression,
  isVariableDeclaration,
  ModifierFlags,
  type CallExpression,
  type Identifier,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';
import { API, SignatureKind, TypeFlags, type Checker, type Project, type Type } from 'typescript/unstable/sync';

/** The JavaScript values that a member of a row may have. `json` stands for everything that JSON can be. */
export type Kind = 'string' | 'number' | 'boolean' | 'date' | 'bytes' | 'json' | `${string}[]`;

export interface Site {
  /** The place of the call as in stack traces, `db/x.ts:12`. */
  place: string;
  /** The declared type of a row. */
  type: Type;
  /** The members that the row always has; undefined if the statement has no rows. */
  row: Map<string, Kind> | undefined;
  /** True if the compiler has checked a statement of the builder that returns no rows. */
  isChecked: boolean;
}

export interface ExportedFunction {
  file: string;
  name: string;
  parameters: Type[];
}

export interface Sources {
  checker: Checker;
  sites: Site[];
  functions: ExportedFunction[];
  close(): void;
}

export const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The types that statements of the builder without rows return. */
const COUNTS = ['InsertResult', 'UpdateResult', 'DeleteResult'];

const EXECUTES = ['execute', 'executeTakeFirst', 'executeTakeFirstOrThrow'];

/** Reads the sources for which `isMeant` returns true. Its parameter is the path relative to the repository. */
export function readSources(isMeant: (file: string) => boolean): Sources {
  const api = new API({ cwd: ROOT });
  const project = api.updateSnapshot({ openProjects: [path.join(ROOT, 'tsconfig.json')] }).getProjects()[0]!;
  const files = project.program
    .getSourceFileNames()
    .map((name) => path.relative(ROOT, name))
    .filter(isMeant);
  const sites: Site[] = [];
  const functions: ExportedFunction[] = [];
  for (const file of files) {
    const source = project.program.getSourceFile(path.join(ROOT, file))!;
    source.forEachChild(function visit(node: Node): void {
      if (isCallExpression(node)) sites.push(...siteOf(project, source, file, node));
      if (isFunctionDeclaration(node) && isExported(node) && node.name !== undefined)
        functions.push({ file, name: node.name.text, parameters: parametersOf(project.checker, node.name) });
      node.forEachChild(visit);
    });
  }
  return { checker: project.checker, sites, functions, close: () => api.close() };
}

function isExported({ modifierFlags }: { modifierFlags?: ModifierFlags }): boolean {
  return ((modifierFlags ?? ModifierFlags.None) & ModifierFlags.Export) !== 0;
}

function parametersOf(checker: Checker, name: Identifier): Type[] {
  const [signature] = checker.getSignaturesOfType(checker.getTypeAtLocation(name)!, SignatureKind.Call);
  return signature!.getParameters().map((_, index) => checker.getParameterType(signature!, index)!);
}

function siteOf({ checker }: Project, source: SourceFile, file: string, call: CallExpression): Site[] {
  const { expression } = call;
  const name = isPropertyAccessExpression(expression) ? expression.name : expression;
  if (!isIdentifier(name)) return [];
  const isMethod = name !== expression && EXECUTES.includes(name.text);
  const isPrepared = name === expression && (name.text === 'executePrepared' || isStatement(checker, name));
  if (!isMethod && !isPrepared) return [];
  const answer = promised(checker, checker.getTypeAtLocation(call)!);
  if (answer === undefined || isTransaction(checker, expression)) return [];
  const isRaw = isMethod && symbolOf(answer) === 'QueryResult';
  const row = isRaw ? checker.getTypeArguments(answer as never)[0]! : elementOf(checker, answer);
  const { line } = source.getLineAndCharacterOfPosition(name.getStart(source));
  const isChecked = !isRaw && COUNTS.includes(symbolOf(row));
  return [{ place: `${file}:${line + 1}`, type: row, row: membersOf(checker, row), isChecked }];
}

/** Returns true if the name is the result of `createStatement`. */
function isStatement(checker: Checker, name: Identifier): boolean {
  const declaration = checker.getSymbolAtLocation(name)?.valueDeclaration?.resolve();
  if (declaration === undefined || !isVariableDeclaration(declaration)) return false;
  const { initializer } = declaration;
  return (
    initializer !== undefined && isCallExpression(initializer) && initializer.expression.getText() === 'createStatement'
  );
}

function isTransaction(checker: Checker, callee: Node): boolean {
  if (!isPropertyAccessExpression(callee)) return false;
  const type = checker.getTypeAtLocation(callee.expression);
  return type !== undefined && symbolOf(type).endsWith('TransactionBuilder');
}

function promised(checker: Checker, type: Type): Type | undefined {
  return symbolOf(type) === 'Promise' ? checker.getTypeArguments(type as never)[0] : undefined;
}

function elementOf(checker: Checker, type: Type): Type {
  const given = checker.getNonNullableType(type) ?? type;
  return checker.isArrayType(given) ? checker.getTypeArguments(given as never)[0]! : given;
}

function membersOf(checker: Checker, row: Type): Map<string, Kind> | undefined {
  if ((row.flags & (TypeFlags.Unknown | TypeFlags.Any)) !== 0 || COUNTS.includes(symbolOf(row))) return undefined;
  const members = checker.getPropertiesOfType(row).flatMap((member): [string, Kind][] => {
    const type = checker.getTypeOfSymbol(member);
    if (type === undefined || mayBeAbsent(type) || (type.flags & TypeFlags.Null) !== 0) return [];
    return [[member.name, kindOf(checker, type)]];
  });
  return new Map(members);
}

function mayBeAbsent(type: Type): boolean {
  return type.isUnionType() && type.getTypes().some(({ flags }) => (flags & TypeFlags.Undefined) !== 0);
}

function kindOf(checker: Checker, declared: Type): Kind {
  const type = checker.getNonNullableType(declared) ?? declared;
  const parts = type.isUnionType() ? type.getTypes() : [type];
  const kinds = new Set(parts.map((part) => kindOfPart(checker, part)));
  return kinds.size === 1 ? [...kinds][0]! : 'json';
}

function kindOfPart(checker: Checker, type: Type): Kind {
  if ((type.flags & TypeFlags.StringLike) !== 0) return 'string';
  if ((type.flags & TypeFlags.NumberLike) !== 0) return 'number';
  if ((type.flags & TypeFlags.BooleanLike) !== 0) return 'boolean';
  if (checker.isArrayType(type)) return `${kindOf(checker, checker.getTypeArguments(type as never)[0]!)}[]`;
  const symbol = symbolOf(type);
  if (symbol === 'Date') return 'date';
  return symbol === 'Buffer' ? 'bytes' : 'json';
}

export function symbolOf(type: Type): string {
  return type.getSymbol()?.name ?? '';
}
