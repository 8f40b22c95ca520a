// Variables of a whole document. The root `env` is filled in first, from top to bottom, and each of its values is
// seen by the entries below it and by everything else; a value that itself contains `$NAME` is not looked at again.

import { expandParts, PIPELINE_DIALECT, scanParts } from './expansion.ts'
import type { EnvLookup, Expanded } from './expansion.ts'
import { createProblem } from './problem.ts'
import type { Problem } from './problem.ts'
import { findEntry, textScalar } from './source.ts'
import type { Position, SourceEntry, SourceMap, SourceNode } from './source.ts'

type Interpolated = { ok: true; tree: SourceNode } | { ok: false; problem: Problem }

const MAX_CHARACTERS = 8 * 1024 * 1024

/** Names of the keys under which a whole step may be nested; see `steps/kinds/kind.ts`. */
const NESTING_KEYS = new Set([
  'command',
  'commands',
  'script',
  'wait',
  'waiter',
  'block',
  'input',
  'manual',
  'trigger',
])

export function interpolateText(text: string, env: EnvLookup, budget = { left: MAX_CHARACTERS }): Expanded {
  if (!text.includes('$')) return { ok: true, value: text }
  const scanned = scanParts(text, PIPELINE_DIALECT)
  return scanned.ok ? expandParts(scanned.value, env, budget) : scanned
}

export function interpolateTree(tree: SourceNode, env: EnvLookup): Interpolated {
  try {
    const own = new Map<string, string>()
    const lookup: EnvLookup = (name) => own.get(name) ?? env(name)
    return { ok: true, tree: new Interpolation(lookup, own).root(tree) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { ok: false, problem: createProblem(error.message, error.at, null) }
  }
}

/** Unwinds the recursive walk below; never leaves this file. */
class Refusal extends Error {
  readonly at: Position
  constructor(message: string, at: Position) {
    super(message)
    this.at = at
  }
}

class Interpolation {
  private readonly lookup: EnvLookup
  private readonly own: Map<string, string>
  private readonly budget = { left: MAX_CHARACTERS }

  constructor(lookup: EnvLookup, own: Map<string, string>) {
    this.lookup = lookup
    this.own = own
  }

  root(tree: SourceNode): SourceNode {
    if (tree.kind === 'list') return this.steps(tree)
    if (tree.kind === 'scalar') return this.any(tree)
    const env = findEntry(tree, 'env')
    const filledEnv = env?.value.kind === 'map' ? this.rootEnv(env.value) : undefined
    return this.map(tree, (entry) => {
      if (entry === env && filledEnv) return filledEnv
      return entry.key === 'steps' ? this.steps(entry.value) : this.any(entry.value)
    })
  }

  private rootEnv(map: SourceMap): SourceMap {
    return this.map(map, (entry, key) => {
      const value = this.any(entry.value)
      if (value.kind === 'scalar') this.own.set(key, value.value === null ? '' : value.text)
      return value
    })
  }

  private steps(node: SourceNode): SourceNode {
    if (node.kind !== 'list') return this.any(node)
    return { ...node, items: node.items.map((item) => this.step(item)) }
  }

  private step(node: SourceNode): SourceNode {
    if (node.kind !== 'map') return this.any(node)
    return this.map(node, ({ key, value }) => {
      // A signature covers the text as the signer saw it.
      if (key === 'signature') return value
      if (key === 'steps') return this.steps(value)
      return NESTING_KEYS.has(key) ? this.step(value) : this.any(value)
    })
  }

  private any(node: SourceNode): SourceNode {
    if (node.kind === 'list') return { ...node, items: node.items.map((item) => this.any(item)) }
    if (node.kind === 'map') return this.map(node, (entry) => this.any(entry.value))
    return typeof node.value === 'string' ? textScalar(this.text(node.value, node), node) : node
  }

  private map(map: SourceMap, fill: (entry: SourceEntry, key: string) => SourceNode): SourceMap {
    const entries = map.entries.map((entry) => {
      const key = this.text(entry.key, entry)
      return { ...entry, key, value: fill(entry, key) }
    })
    const seen = new Set<string>()
    for (const entry of entries) {
      if (seen.has(entry.key)) {
        throw new Refusal(`the key "${entry.key}" appears twice once variables are filled in`, entry)
      }
      seen.add(entry.key)
    }
    return { ...map, entries }
  }

  private text(text: string, at: Position): string {
    const filled = interpolateText(text, this.lookup, this.budget)
    if (!filled.ok) throw new Refusal(filled.message, at)
    return filled.value
  }
}
