import type { SourceEntry, SourceMap } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import type { Attributes } from '../read-attributes.ts'
import {
  EVERY_STEP_ALIASES,
  EVERY_STEP_NAMES,
  readBranches,
  readEveryStep,
} from '../attributes/every-step.ts'
import { readFields } from '../attributes/fields.ts'
import type { Report } from '../report.ts'
import type { ManualStep } from '../types.ts'
import { readChoice, readText, readTexts, wrong } from '../values.ts'

const NAMES = [
  ...EVERY_STEP_NAMES,
  'allowed_teams',
  'blocked_state',
  'branches',
  'fields',
  'prompt',
  'submit',
] as const
const BLOCK = {
  owner: 'a block step',
  names: [...NAMES, 'block'],
  aliases: { ...EVERY_STEP_ALIASES, manual: 'block' },
} as const
const INPUT = {
  owner: 'an input step',
  names: [...NAMES, 'input'],
  aliases: EVERY_STEP_ALIASES,
} as const

const MAX_TEAMS = 100

export function readBlock(map: SourceMap, report: Report): ManualStep {
  const attributes = readAttributes(map, BLOCK, report)
  return readManual('block', attributes, attributes.get('block'), report)
}

export function readInput(map: SourceMap, report: Report): ManualStep {
  const attributes = readAttributes(map, INPUT, report)
  return readManual('input', attributes, attributes.get('input'), report)
}

function readManual(
  kind: ManualStep['kind'],
  attributes: Attributes<(typeof NAMES)[number]>,
  title: SourceEntry | undefined,
  report: Report,
): ManualStep {
  readText(title, report)
  const everyStep = readEveryStep(attributes, title, report)
  const teams = attributes.get('allowed_teams')
  const allowedTeams = readTexts(teams, report) ?? []
  if (teams && allowedTeams.length > MAX_TEAMS) wrong(teams, `at most ${MAX_TEAMS} teams`, report)
  return {
    kind,
    ...everyStep,
    branches: readBranches(attributes, everyStep.condition, report),
    prompt: readText(attributes.get('prompt'), report),
    submit: readText(attributes.get('submit'), report),
    fields: readFields(attributes.get('fields'), report),
    blockedState:
      readChoice(attributes.get('blocked_state'), ['passed', 'failed', 'running'], report) ?? 'passed',
    allowedTeams,
  }
}
