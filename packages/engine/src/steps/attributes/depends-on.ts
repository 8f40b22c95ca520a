import { describeNode } from '../../source.ts'
import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Report } from '../report.ts'
import type { Dependency } from '../types.ts'
import { looksLikeUuid, readBoolean, readName } from '../values.ts'

/** Null when the attribute is absent; an empty list when it says "nothing". */
export function readDependsOn(entry: SourceEntry | undefined, report: Report): Dependency[] | null {
  if (!entry) return null
  const { value } = entry
  if (value.kind === 'scalar' && (value.value === null || value.text === '')) return []
  const items = value.kind === 'list' ? value.items : [value]
  const found = new Map<string, Dependency>()
  for (const item of items) {
    const dependency = readDependency(item, report)
    if (!dependency) continue
    if (looksLikeUuid(dependency.ref)) {
      report.problem(item, 'a step can only be named by its key, not by an id', {
        expected: 'the key of a step',
      })
    }
    const allowFailure = dependency.allowFailure ?? found.get(dependency.ref)?.allowFailure ?? null
    found.set(dependency.ref, { ref: dependency.ref, allowFailure })
  }
  return [...found.values()]
}

function readDependency(item: SourceNode, report: Report): Dependency | null {
  if (item.kind === 'map') return readDetailed(item, report)
  if (item.kind === 'scalar' && item.value !== null && item.text !== '') {
    return { ref: item.text, allowFailure: null }
  }
  report.problem(item, `\`depends_on\` cannot contain ${describeNode(item)}`, {
    expected: 'the key of a step, or `{step, allow_failure}`',
  })
  return null
}

function readDetailed(map: SourceMap, report: Report): Dependency | null {
  const attributes = readAttributes(map, { owner: 'a dependency', names: ['step', 'allow_failure'] }, report)
  const ref = readName(attributes.get('step'), report)
  if (ref === null)
    report.problem(map, 'the dependency names no step', { expected: '`step` with the key of a step' })
  return ref === null ? null : { ref, allowFailure: readBoolean(attributes.get('allow_failure'), report) }
}
