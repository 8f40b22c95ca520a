import { describeNode } from '../../source.ts'
import type { Position, SourceNode } from '../../source.ts'
import type { Report } from '../report.ts'

const MAX_BYTES = 128

/** Elements of any scalar type are compared as strings. */
export function readElement(node: SourceNode, report: Report): string | null {
  if (node.kind !== 'scalar' || node.value === null) {
    report.problem(node, `\`matrix\` cannot contain ${describeNode(node)}`, {
      expected: 'a string, number or boolean',
    })
    return null
  }
  checkBytes(node.text, node, report)
  return node.text
}

export function checkBytes(text: string, at: Position, report: Report): void {
  const bytes = encodeURIComponent(text).replaceAll(/%../g, '.').length
  if (bytes > MAX_BYTES) {
    report.problem(at, 'a value or name in `matrix` is too long', { expected: `at most ${MAX_BYTES} bytes` })
  }
}
