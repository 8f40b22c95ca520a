// JUnit's XML: `<testcase classname name time file>`, with `<failure>`, `<error>` or `<skipped>` inside.
import { makeResult, type FailurePart, type TestResult } from './results.ts'
import { readXml } from './xml.ts'

interface Case {
  attributes: ReadonlyMap<string, string>
  result: TestResult['result']
  reason: string | null
  parts: FailurePart[]
}

interface Suite {
  name: string
  /** Failures and errors that its attributes count. */
  declared: number
  /** Those of them that are there. */
  failed: number
}

/**
 * null in place of a test without `classname` or `name`, and for a suite that counts more failures than it has: tools write so
 * that a file could not be loaded. Throws what xml.ts throws.
 */
export function* readJunit(source: string): Generator<TestResult | null> {
  let test: Case | null = null
  let text: { message: string | null; pieces: string[] } | null = null
  const suites: Suite[] = []
  for (const piece of readXml(source)) {
    if (piece.kind === 'text') text?.pieces.push(piece.text)
    else if (piece.kind === 'open') {
      if (isSuite(piece.name)) suites.push(openSuite(piece.attributes))
      else if (piece.name === 'testcase')
        test = { attributes: piece.attributes, result: 'passed', reason: null, parts: [] }
      else if (test === null || text !== null) continue
      else if (piece.name === 'skipped' && test.result === 'passed') test.result = 'skipped'
      else if (isFailure(piece.name)) text = { message: piece.attributes.get('message') ?? null, pieces: [] }
    } else if (test !== null && text !== null && isFailure(piece.name)) {
      fail(test, text.message, text.pieces.join(''))
      text = null
    } else if (test !== null && piece.name === 'testcase') {
      const suite = suites.at(-1)
      if (suite !== undefined && test.result === 'failed') suite.failed += 1
      yield finish(test, suite?.name ?? '')
      test = null
      text = null
    } else if (test === null && isSuite(piece.name)) {
      const suite = suites.pop()
      if (suite === undefined) continue
      if (suite.declared > suite.failed) yield null
      const parent = suites.at(-1)
      if (parent !== undefined) parent.failed += Math.max(suite.declared, suite.failed)
    }
  }
}

const isSuite = (name: string) => name === 'testsuite' || name === 'testsuites'

function openSuite(attributes: Case['attributes']): Suite {
  const count = (key: string) => Math.max(0, Number.parseInt(attributes.get(key) ?? '', 10) || 0)
  return { name: attributes.get('name') ?? '', declared: count('failures') + count('errors'), failed: 0 }
}

const isFailure = (name: string) => name === 'failure' || name === 'error'

function fail(test: Case, message: string | null, text: string): void {
  const lines = text.trim() === '' ? [] : text.trim().split('\n')
  test.result = 'failed'
  test.reason ??= message || lines[0] || null
  test.parts.push({ expanded: lines, backtrace: [] })
}

function finish({ attributes, result, reason, parts }: Case, suite: string): TestResult | null {
  const [scope, name] = [attributes.get('classname'), attributes.get('name')]
  if (!scope || !name) return null
  const fileName = attributes.get('file') ?? (suite === 'pytest' ? fileOfModule(scope) : null)
  const line = attributes.get('line')
  return makeResult({
    scope,
    name,
    location: fileName !== null && line ? `${fileName}:${line}` : fileName,
    fileName,
    result,
    failureReason: reason,
    failureExpanded: parts,
    // Some tools write a comma after thousands.
    durationSeconds: Number.parseFloat(attributes.get('time')?.replaceAll(',', '') ?? ''),
  })
}

/** pytest names no files: its classes are the module with dots, such as `tests.test_basket.TestPrices`. */
function fileOfModule(name: string): string | null {
  const parts = name.split('.')
  const module = parts.findLastIndex((part) => part.startsWith('test_') || part.endsWith('_test'))
  return module === -1 ? null : `${parts.slice(0, module + 1).join('/')}.py`
}
