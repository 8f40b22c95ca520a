import type { SourceEntry, SourceMap } from '../../source.ts'
import { readAttributes } from '../read-attributes.ts'
import {
  EVERY_STEP_ALIASES,
  EVERY_STEP_NAMES,
  readBranches,
  readEveryStep,
} from '../attributes/every-step.ts'
import { checkIfChanged } from '../attributes/if-changed.ts'
import type { Origin } from '../attributes/if-changed.ts'
import { PARALLELISM } from '../job-count.ts'
import type { Report } from '../report.ts'
import { readSkip } from '../attributes/skip.ts'
import { readSoftFail } from '../attributes/soft-fail.ts'
import type { TriggerStep } from '../types.ts'
import { isNull, readBoolean, readInteger, readName, readPairs, readText, wrong } from '../values.ts'

const VOCABULARY = {
  owner: 'a trigger step',
  names: [
    ...EVERY_STEP_NAMES,
    'async',
    'branches',
    'build',
    'if_changed',
    'parallelism',
    'skip',
    'soft_fail',
    'trigger',
  ],
  aliases: EVERY_STEP_ALIASES,
} as const

const BUILD = {
  owner: '`build` of a trigger step',
  names: ['message', 'commit', 'branch', 'env', 'meta_data'],
} as const

export function readTrigger(map: SourceMap, origin: Origin, report: Report): TriggerStep {
  const attributes = readAttributes(map, VOCABULARY, report)
  const everyStep = readEveryStep(attributes, undefined, report)
  const target = attributes.get('trigger')
  const pipeline = readName(target, report)
  if (pipeline === null) {
    report.problem(target ?? map, 'the step does not say which pipeline to trigger', {
      expected: '`trigger` with the slug of a pipeline',
    })
  }
  checkIfChanged(attributes.get('if_changed'), origin, report)
  return {
    kind: 'trigger',
    ...everyStep,
    branches: readBranches(attributes, everyStep.condition, report),
    pipeline: pipeline ?? '',
    build: readBuild(attributes.get('build'), report),
    async: readBoolean(attributes.get('async'), report) ?? false,
    parallelism: readInteger(attributes.get('parallelism'), PARALLELISM, report),
    skip: readSkip(attributes.get('skip'), report),
    softFail: readSoftFail(attributes.get('soft_fail'), report) ?? false,
  }
}

function readBuild(entry: SourceEntry | undefined, report: Report): TriggerStep['build'] {
  const nothing = { message: null, commit: null, branch: null, env: {}, metaData: {} }
  if (!entry || isNull(entry.value)) return nothing
  if (entry.value.kind !== 'map') {
    wrong(entry, 'a map with `branch`, `commit`, `message`, `env` or `meta_data`', report)
    return nothing
  }
  const attributes = readAttributes(entry.value, BUILD, report)
  return {
    message: readText(attributes.get('message'), report),
    commit: readText(attributes.get('commit'), report),
    branch: readText(attributes.get('branch'), report),
    env: Object.fromEntries(readPairs(attributes.get('env'), report)),
    metaData: Object.fromEntries(readPairs(attributes.get('meta_data'), report)),
  }
}
