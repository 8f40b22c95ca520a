// Random pipelines.

import fc from 'fast-check'
import type { Dependency, LeafStep, PipelineDocument, StepDefinition } from '../src/steps/types.ts'
import { aCommand, aDocument, aGroup, aManual, aTrigger, aWait } from './builders.ts'

/** A step before its name is known; references count back from the step itself. */
export interface Sketch {
  kind: 'command' | 'wait' | 'continue' | 'block' | 'input' | 'trigger' | 'group'
  dependsOn: readonly { back: number; allow: boolean | null }[] | null
  isIgnored: boolean
  isSoft: boolean
  isFailFast: boolean
  allow: boolean
  retries: number
  permitOnPassed: boolean
  parallelism: number | null
  blockedState: 'passed' | 'failed' | 'running'
}

export const sketch: fc.Arbitrary<Sketch> = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('command' as const) },
    { weight: 2, arbitrary: fc.constantFrom('wait' as const, 'continue' as const) },
    { weight: 2, arbitrary: fc.constantFrom('block' as const, 'input' as const) },
    { weight: 1, arbitrary: fc.constant('trigger' as const) },
    { weight: 1, arbitrary: fc.constant('group' as const) },
  ),
  dependsOn: fc.option(
    fc.array(fc.record({ back: fc.integer({ min: -1, max: 4 }), allow: fc.option(fc.boolean()) }), {
      maxLength: 2,
    }),
    { freq: 2 },
  ),
  isIgnored: fc.integer({ max: 5 }).map((n) => n === 0),
  isSoft: fc.integer({ max: 3 }).map((n) => n === 0),
  isFailFast: fc.integer({ max: 3 }).map((n) => n === 0),
  allow: fc.boolean(),
  retries: fc.integer({ min: 0, max: 1 }),
  permitOnPassed: fc.boolean(),
  parallelism: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 3 }),
  blockedState: fc.constantFrom('passed', 'failed', 'running'),
})

export const sketches: fc.Arbitrary<Sketch[]> = fc.array(sketch, { minLength: 1, maxLength: 9, size: 'max' })

/** Keys are `<prefix>0`, `<prefix>1`, …; a reference further back than the first step names an older prefix. */
export function documentOf(
  sketched: readonly Sketch[],
  prefix: string,
  older: readonly string[],
): PipelineDocument {
  return aDocument(sketched.map((item, index) => stepOf(item, prefix, index, older)))
}

function stepOf(item: Sketch, prefix: string, index: number, older: readonly string[]): StepDefinition {
  const name = `${prefix}${index}`
  if (item.kind !== 'group')
    return leafOf({ ...item, kind: item.kind }, name, refsOf(item, prefix, index, older))
  const plain = { ...item, dependsOn: null, isIgnored: false }
  return aGroup(
    [
      leafOf({ ...plain, kind: 'command' }, `${name}a`, null),
      leafOf({ ...plain, kind: item.allow ? 'wait' : 'continue' }, `${name}w`, null),
      leafOf({ ...item, kind: 'command' }, `${name}b`, null),
    ],
    {
      key: name,
      dependsOn: refsOf(item, prefix, index, older),
      allowDependencyFailure: item.allow,
      condition: item.isIgnored ? 'false' : null,
    },
  )
}

function leafOf(
  item: Sketch & { kind: Exclude<Sketch['kind'], 'group'> },
  key: string,
  dependsOn: Dependency[] | null,
): LeafStep {
  const common = {
    key,
    dependsOn,
    allowDependencyFailure: item.allow,
    condition: item.isIgnored ? 'false' : null,
  }
  switch (item.kind) {
    case 'command':
      return aCommand(key, {
        ...common,
        softFail: item.isSoft ? [42] : false,
        cancelOnBuildFailing: item.isFailFast,
        parallelism: item.parallelism,
        concurrency: item.retries === 0 ? null : { group: 'g', limit: 1, method: 'ordered' },
        retry: {
          automatic: [{ exitStatus: '*', signal: '*', signalReason: '*', limit: item.retries }],
          manual: { allowed: true, permitOnPassed: item.permitOnPassed, reason: null },
        },
      })
    case 'trigger':
      return aTrigger(key, { ...common, async: item.permitOnPassed, softFail: item.isSoft })
    case 'wait':
    case 'continue':
      return aWait({ ...common, continueOnFailure: item.kind === 'continue' })
    case 'block':
    case 'input':
      return aManual(item.kind, { ...common, blockedState: item.blockedState })
  }
}

function refsOf(item: Sketch, prefix: string, index: number, older: readonly string[]): Dependency[] | null {
  if (item.dependsOn === null) return null
  return item.dependsOn.map(({ back, allow }) => {
    const at = index - back
    const ref = back <= 0 ? 'late0' : at >= 0 ? `${prefix}${at}` : (older.at(at) ?? 'never')
    return { ref, allowFailure: allow }
  })
}
