// Reads requests for plans and makes plans, in a thread: they can have megabytes. Texts go in and out, because threads pass a text
// on much faster than objects.
import { median, partsWithin, splitByTime } from '@millrace/engine/test-split.ts'
import type { TSchema } from 'typebox'
import { parseBody } from '../../../http/json-body.ts'
import { checker, type Check } from '../../../lib/check.ts'
import { refused, validationFailed } from '../../../lib/errors.ts'
import {
  CreateTestPlan,
  FileNames,
  FilesToFilter,
  type Format,
  type Plan,
  type Planned,
  type PlanRequest,
} from './schema.ts'

const mostValues = 1_000_000

/** What a test is taken to last when none of its kind has run. */
const defaultMs = 1000

const checkPlan = checker(CreateTestPlan)
const checkFilter = checker(FilesToFilter)
const checkNames = checker(FileNames)

function read<S extends TSchema>(check: Check<S>, bytes: Uint8Array) {
  const body = check(parseBody(Buffer.from(bytes).toString() || '{}', mostValues))
  if (!body.ok) throw validationFailed(body.reason)
  return body.value
}

/** Results may name a file with or without “./”. */
const plain = (path: string): string => path.replace(/^(\.\/)+/, '')

export const readFileNames = (bytes: Uint8Array): string =>
  JSON.stringify(read(checkNames, bytes).paths.map(plain))

interface FilterRequest {
  /** A JSON list. */
  paths: string
  parts: number
  targetSeconds: number | null
  withSlow: boolean
}

export function readFilter(bytes: Uint8Array): FilterRequest {
  const { files, env = {}, max_parallelism: most = 0, target_time: target = 0 } = read(checkFilter, bytes)
  return {
    paths: JSON.stringify(files.map(({ path }) => plain(path))),
    parts: Math.max(1, most > 0 ? most : (env.BUILDKITE_PARALLEL_JOB_COUNT ?? 1)),
    targetSeconds: most > 0 && target > 0 ? target : null,
    withSlow: env.BUILDKITE_TEST_ENGINE_SPLIT_BY_EXAMPLE ?? false,
  }
}

interface Wanted {
  identifier: string
  /** A JSON list of the files to look up. */
  files: string
  /** A JSON list of tests with scope and name. */
  examples: string
}

export function readPlan(bytes: Uint8Array): Wanted {
  const request = read(checkPlan, bytes)
  if (request.selection) throw refused('Selection of tests is not supported.')
  const { files, examples, selectors } = casesOf(request)
  return {
    identifier: request.identifier,
    files: JSON.stringify([...files, ...selectors].map(({ file }) => file)),
    examples: JSON.stringify(examples.map(({ test: { scope = '', name = '' } }) => ({ scope, name }))),
  }
}

interface Case {
  test: Omit<Planned, 'estimated_duration' | 'timing_sample_size'>
  /** As results name it. */
  file: string
}

function casesOf({
  tests,
  location_prefix: prefix = '',
}: PlanRequest): Record<'files' | 'examples' | 'selectors', Case[]> {
  const prefixed = (path: string) =>
    plain(prefix === '' ? path : `${prefix.replace(/\/$/, '')}/${plain(path)}`)
  return {
    files: (tests.files ?? []).map(({ path }) => ({ test: { format: 'file', path }, file: plain(path) })),
    selectors: (tests.selectors ?? []).map(({ value }) => ({
      test: { format: 'selector', path: value, value },
      file: prefixed(value),
    })),
    examples: (tests.examples ?? []).map(({ path, scope, name, identifier }) => ({
      test: {
        format: 'example',
        path,
        ...(scope === undefined ? {} : { scope }),
        ...(name === undefined ? {} : { name }),
        ...(identifier === undefined ? {} : { identifier }),
      },
      file: '',
    })),
  }
}

interface Known {
  bytes: Uint8Array
  /** As times.ts returns them. */
  fileTimes: string
  exampleTimes: string
}

type Time = readonly [seconds: number | null, runs: number, isSkipped?: boolean]

/** Returns the plan as JSON. */
export function makePlan({ bytes, fileTimes, exampleTimes }: Known): string {
  const request = read(checkPlan, bytes)
  const { files, examples, selectors } = casesOf(request)
  const byFile = new Map(Object.entries(JSON.parse(fileTimes) as Record<string, Time>))
  const byPlace = new Map(Object.entries(JSON.parse(exampleTimes) as Record<string, Time>))
  const timeOf = ({ file }: Case): Time => byFile.get(file) ?? [null, 0]
  const skipped: Plan['skipped_tests'] = []
  const run: Array<readonly [Case, Time]> = []
  for (const [place, example] of examples.entries()) {
    const time = byPlace.get(String(place)) ?? [null, 0]
    const { path, scope = '', name = '' } = example.test
    if (time[2] === true) skipped.push({ path, scope, name })
    else run.push([example, time])
  }
  const timed = [
    timeCases(files.map((one) => [one, timeOf(one)])),
    timeCases(run),
    timeCases(selectors.map((one) => [one, timeOf(one)])),
  ]
  const tests = timed.flatMap(({ tests }) => tests)
  const formats: readonly Format[] = ['file', 'example', 'selector']
  return JSON.stringify({
    identifier: request.identifier,
    ...divide(tests, request),
    experiment: '',
    skipped_tests: skipped,
    timing_metadata: Object.fromEntries(
      timed.flatMap(({ tests: those, medianMs }, index) =>
        those.length === 0
          ? []
          : [[formats[index], { median_duration: medianMs, default_duration: defaultMs }]],
      ),
    ),
  } satisfies Plan)
}

/** What has not run takes as long as the others of its kind in the middle. */
function timeCases(cases: ReadonlyArray<readonly [Case, Time]>): {
  tests: Planned[]
  medianMs: number | null
} {
  const medianMs = median(cases.flatMap(([, [seconds]]) => (seconds === null ? [] : [seconds * 1000])))
  const tests = cases.map(([{ test }, [seconds, runs]]) => ({
    ...test,
    estimated_duration: Math.round(seconds === null ? (medianMs ?? defaultMs) : seconds * 1000),
    timing_sample_size: seconds === null ? 0 : runs,
  }))
  return { tests, medianMs }
}

function divide(
  tests: readonly Planned[],
  { parallelism = 1, max_parallelism: most = 0, target_time: target = 0 }: PlanRequest,
): Pick<Plan, 'parallelism' | 'tasks'> {
  const timed = tests.map((test) => ({ name: test.path, duration: test.estimated_duration }))
  const fixed = Math.max(1, most > 0 ? most : parallelism)
  const parts = most > 0 && target > 0 ? partsWithin(timed, target * 1000, most) : fixed
  const tasks = splitByTime(timed, parts).map((positions, node) => [
    String(node),
    { node_number: node, tests: positions.flatMap((position) => tests[position] ?? []) },
  ])
  return { parallelism: parts, tasks: Object.fromEntries(tasks) }
}
