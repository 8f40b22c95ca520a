// docs/guide/steps.md has an example of every attribute that a reader below this folder knows. The readers tell their
// attributes when they meet one that they do not know.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { plainValue } from '../source.ts'
import { parseSource } from '../yaml.ts'
import { readPipeline } from './document.ts'

type Map = Record<string, unknown>

const options = { origin: 'upload', maxBytes: 1024 * 1024 } as const
const folder = new URL('./', import.meta.url)
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => readFileSync(new URL(name, folder), 'utf8'))
const guide = readFileSync(new URL('../../../../docs/guide/steps.md', import.meta.url), 'utf8')
const shown = [...guide.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => readExample(text))

/** For each name of a reader's owner: a pipeline that it refuses for `nope`, and where the maps it reads are in a pipeline. */
const OWNERS: Readonly<Record<string, { refused: string; find: (pipeline: Map) => Map[] }>> = {
  'a command step': { refused: '{command: a, nope: 1}', find: (pipeline) => commands(pipeline) },
  'a wait step': { refused: '{wait: ~, nope: 1}', find: (pipeline) => having(steps(pipeline), 'wait') },
  'a block step': { refused: '{block: a, nope: 1}', find: (pipeline) => having(steps(pipeline), 'block') },
  'an input step': { refused: '{input: a, nope: 1}', find: (pipeline) => having(steps(pipeline), 'input') },
  'a trigger step': {
    refused: '{trigger: a, nope: 1}',
    find: (pipeline) => having(steps(pipeline), 'trigger'),
  },
  'a group': {
    refused: '{group: a, nope: 1, steps: [wait]}',
    find: (pipeline) => having(steps(pipeline), 'group'),
  },
  'a dependency': {
    refused: '{command: a, depends_on: [{step: b, nope: 1}]}',
    find: (pipeline) => inside(steps(pipeline), 'depends_on'),
  },
  'a text field': {
    refused: '{block: a, fields: [{text: a, key: a, nope: 1}]}',
    find: (pipeline) => having(inside(steps(pipeline), 'fields'), 'text'),
  },
  'a select field': {
    refused: '{block: a, fields: [{select: a, key: a, options: [{label: a, value: a}], nope: 1}]}',
    find: (pipeline) => having(inside(steps(pipeline), 'fields'), 'select'),
  },
  'an option': {
    refused: '{block: a, fields: [{select: a, key: a, options: [{label: a, value: a, nope: 1}]}]}',
    find: (pipeline) => inside(inside(steps(pipeline), 'fields'), 'options'),
  },
  '`build` of a trigger step': {
    refused: '{trigger: a, build: {nope: 1}}',
    find: (pipeline) => inside(steps(pipeline), 'build'),
  },
  '`cache`': {
    refused: '{command: a, cache: {paths: a, nope: 1}}',
    find: (pipeline) => inside(steps(pipeline), 'cache'),
  },
  '`checkout`': {
    refused: '{command: a, checkout: {nope: 1}}',
    find: (pipeline) => inside(steps(pipeline), 'checkout'),
  },
  '`checkout.flags`': {
    refused: '{command: a, checkout: {flags: {nope: 1}}}',
    find: (pipeline) => inside(inside(steps(pipeline), 'checkout'), 'flags'),
  },
  '`checkout.sparse`': {
    refused: '{command: a, checkout: {sparse: {nope: 1}}}',
    find: (pipeline) => inside(inside(steps(pipeline), 'checkout'), 'sparse'),
  },
  '`matrix`': {
    refused: '{command: a, matrix: {setup: [a], nope: 1}}',
    find: (pipeline) => inside(steps(pipeline), 'matrix'),
  },
  'a matrix adjustment': {
    refused: '{command: a, matrix: {setup: [a], adjustments: [{with: a, nope: 1}]}}',
    find: (pipeline) => inside(inside(steps(pipeline), 'matrix'), 'adjustments'),
  },
  '`retry`': {
    refused: '{command: a, retry: {nope: 1}}',
    find: (pipeline) => inside(steps(pipeline), 'retry'),
  },
  '`retry.automatic`': {
    refused: '{command: a, retry: {automatic: [{nope: 1}]}}',
    find: (pipeline) => inside(inside(steps(pipeline), 'retry'), 'automatic'),
  },
  '`retry.manual`': {
    refused: '{command: a, retry: {manual: {nope: 1}}}',
    find: (pipeline) => inside(inside(steps(pipeline), 'retry'), 'manual'),
  },
  '`signature`': {
    refused: '{command: a, signature: {nope: 1}}',
    find: (pipeline) => inside(steps(pipeline), 'signature'),
  },
  '`slack`': {
    refused: '{command: a, notify: [{slack: {channels: a, nope: 1}}]}',
    find: (pipeline) => inside(inside(steps(pipeline), 'notify'), 'slack'),
  },
  '`soft_fail`': {
    refused: '{command: a, soft_fail: [{nope: 1}]}',
    find: (pipeline) => inside(steps(pipeline), 'soft_fail'),
  },
}

const KINDS = [
  'a command step',
  'a wait step',
  'a block step',
  'an input step',
  'a trigger step',
  'a group',
] as const

describe('docs/guide/steps.md', () => {
  it('is compared with every reader of attributes', () => {
    const owners = sources.flatMap((source) => [...source.matchAll(/owner: '([^']+)'/g)])
    expect(owners.map(([, owner]) => owner).toSorted()).toEqual(Object.keys(OWNERS).toSorted())
  })

  it('shows every key of a file', () => {
    const known = sources.flatMap((source) => [...source.matchAll(/findEntry\(root, '(\w+)'\)/g)])
    const names = known.map(([, name = '']) => name)
    expect(names).toContain('steps')
    expect(names.filter((name) => !shown.some((pipeline) => name in pipeline))).toEqual([])
  })

  it('shows every attribute that all steps have', () => {
    const onSteps = new Set(shown.flatMap(steps).flatMap((step) => Object.keys(step)))
    expect(commonNames()).toContain('depends_on')
    expect(commonNames().filter((name) => !onSteps.has(name))).toEqual([])
  })

  it.each(Object.keys(OWNERS))('shows every attribute of %s', (owner) => {
    const names = namesOf(owner)
    const maps = shown.flatMap((pipeline) => OWNERS[owner]?.find(pipeline) ?? [])
    const seen = new Set(maps.flatMap((map) => Object.keys(map)))
    const isCommon = (name: string) => KINDS.some((kind) => kind === owner) && commonNames().includes(name)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !seen.has(name) && !isCommon(name))).toEqual([])
  })
})

/** As the message about an unknown attribute lists them. */
function namesOf(owner: string): string[] {
  const read = readPipeline(`steps: [${OWNERS[owner]?.refused ?? ''}]`, options)
  const message = `\`nope\` is not an attribute of ${owner}`
  const problem = read.ok ? undefined : read.problems.find((found) => found.message === message)
  return [...(problem?.expected ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
}

function commonNames(): string[] {
  const [first = [], ...others] = KINDS.map(namesOf)
  return first.filter((name) => others.every((names) => names.includes(name)))
}

function readExample(text: string): Map {
  const read = readPipeline(text, options)
  expect(read.ok ? [] : read.problems).toEqual([])
  const parsed = parseSource(text, options.maxBytes)
  const [tree] = parsed.ok ? parsed.documents : []
  const value = tree && plainValue(tree)
  return isMap(value) ? value : {}
}

function steps(pipeline: Map): Map[] {
  const own = inside([pipeline], 'steps')
  return [...own, ...having(own, 'group').flatMap(steps)]
}

const commands = (pipeline: Map) => steps(pipeline).filter((step) => 'command' in step || 'plugins' in step)

const having = (maps: readonly Map[], key: string) => maps.filter((map) => key in map)

/** The maps that these maps have at a key, alone or in a list. */
const inside = (maps: readonly Map[], key: string): Map[] =>
  maps.flatMap((map) => [map[key]].flat().filter(isMap))

function isMap(value: unknown): value is Map {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
