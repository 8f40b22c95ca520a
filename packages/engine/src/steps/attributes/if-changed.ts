// The agent that uploads steps decides `if_changed`, because only it has the checkout to compare. It replaces it by
// `skip`; a server that still sees it on an upload runs the step.

import { compileGlob } from '../../globs.ts'
import { findEntry, textScalar } from '../../source.ts'
import type { SourceEntry, SourceMap, SourceNode } from '../../source.ts'
import type { Report } from '../report.ts'

export type Origin = 'stored' | 'upload'

const REASON = 'no file named by if_changed has changed'

export function checkIfChanged(entry: SourceEntry | undefined, origin: Origin, report: Report): void {
  if (!entry) return
  if (origin === 'stored') {
    report.problem(entry, '`if_changed` needs a checkout to compare and cannot be part of stored steps', {
      expected: '`if_changed` in a file that a job uploads',
    })
  } else if (!readPatterns(entry.value)) {
    report.warning(entry.value, '`if_changed` is not understood, so the step always runs', {
      expected: 'a glob, a list of globs, or a map with `include` and perhaps `exclude`',
    })
  }
}

/**
 * The document without `if_changed`: steps none of whose files changed are marked to be skipped. Null paths mean
 * that the change could not be computed, and then every step runs.
 */
export function resolveIfChanged(tree: SourceNode, changedPaths: readonly string[] | null): SourceNode {
  if (tree.kind === 'list') return resolveSteps(tree, changedPaths)
  if (tree.kind === 'scalar') return tree
  return mapEntries(tree, (entry) =>
    entry.key === 'steps' ? resolveSteps(entry.value, changedPaths) : entry.value,
  )
}

function resolveSteps(node: SourceNode, changedPaths: readonly string[] | null): SourceNode {
  if (node.kind !== 'list') return node
  return {
    ...node,
    items: node.items.map((item) => (item.kind === 'map' ? resolveStep(item, changedPaths) : item)),
  }
}

function resolveStep(step: SourceMap, changedPaths: readonly string[] | null): SourceMap {
  const resolved = mapEntries(step, ({ key, value }) => {
    if (key === 'steps') return resolveSteps(value, changedPaths)
    const isNestedStep = key === 'command' || key === 'commands' || key === 'script' || key === 'trigger'
    return isNestedStep && value.kind === 'map' ? resolveStep(value, changedPaths) : value
  })
  const condition = findEntry(step, 'if_changed')
  if (!condition) return resolved
  const others = resolved.entries.filter((entry) => entry.key !== 'if_changed')
  const skip = findEntry(resolved, 'skip')
  if (staysIn(condition.value, changedPaths) || (skip && isSkipped(skip.value))) {
    return { ...resolved, entries: others }
  }
  const { line, column } = condition
  const reason = { key: 'skip', value: textScalar(REASON, condition), line, column }
  return { ...resolved, entries: [...others.filter((entry) => entry.key !== 'skip'), reason] }
}

function staysIn(condition: SourceNode, changedPaths: readonly string[] | null): boolean {
  const patterns = readPatterns(condition)
  if (!patterns || changedPaths === null) return true
  const { include, exclude } = patterns
  return changedPaths.some(
    (path) => include.some((matches) => matches(path)) && !exclude.some((matches) => matches(path)),
  )
}

type Matcher = (path: string) => boolean

/** Null when the shape is wrong, so that a mistake runs a step rather than skipping it. */
function readPatterns(condition: SourceNode): { include: Matcher[]; exclude: Matcher[] } | null {
  const includes = condition.kind === 'map' ? findEntry(condition, 'include')?.value : condition
  const excludes = condition.kind === 'map' ? findEntry(condition, 'exclude')?.value : undefined
  const include = includes ? readGlobs(includes) : null
  const exclude = excludes ? readGlobs(excludes) : []
  return include && exclude && include.length > 0 ? { include, exclude } : null
}

function readGlobs(node: SourceNode): Matcher[] | null {
  const globs: Matcher[] = []
  for (const item of node.kind === 'list' ? node.items : [node]) {
    const matches = item.kind === 'scalar' && typeof item.value === 'string' ? compileGlob(item.value) : null
    if (!matches) return null
    globs.push(matches)
  }
  return globs
}

function isSkipped(node: SourceNode): boolean {
  return node.kind === 'scalar' && node.value !== null && node.text !== '' && node.text !== 'false'
}

function mapEntries(map: SourceMap, change: (entry: SourceEntry) => SourceNode): SourceMap {
  return { ...map, entries: map.entries.map((entry) => ({ ...entry, value: change(entry) })) }
}
