import type { SourceMap } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import {
  EVERY_STEP_ALIASES,
  EVERY_STEP_NAMES,
  readBranches,
  readEveryStep,
} from '../attributes/every-step.ts'
import type { Report } from '../report.ts'
import type { WaitStep } from '../types.ts'
import { readBoolean, readText } from '../values.ts'

const VOCABULARY = {
  owner: 'a wait step',
  names: [...EVERY_STEP_NAMES, 'branches', 'continue_on_failure', 'wait'],
  aliases: { ...EVERY_STEP_ALIASES, waiter: 'wait' },
} as const

export function readWait(map: SourceMap, report: Report): WaitStep {
  const attributes = readAttributes(map, VOCABULARY, report)
  const title = attributes.get('wait')
  readText(title, report)
  const everyStep = readEveryStep(attributes, title, report)
  return {
    kind: 'wait',
    ...everyStep,
    branches: readBranches(attributes, everyStep.condition, report),
    continueOnFailure: readBoolean(attributes.get('continue_on_failure'), report) ?? false,
  }
}
