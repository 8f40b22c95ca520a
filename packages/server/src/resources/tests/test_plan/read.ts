import { compiledModule } from '../../../lib/package-files.ts'
import { refused } from '../../../lib/errors.ts'
import { ThreadLimitExceeded } from '../../../lib/thread.ts'
import { runInThread, type WorkOwner } from '../../../lib/threads.ts'
import type { makePlan, readFileNames, readFilter, readPlan } from './plan-tasks.ts'

interface Tasks {
  makePlan: typeof makePlan
  readFileNames: typeof readFileNames
  readFilter: typeof readFilter
  readPlan: typeof readPlan
}

const mostCpuMs = 10_000

export async function readInThread<Name extends keyof Tasks>(
  owner: WorkOwner,
  name: Name,
  input: Parameters<Tasks[Name]>[0],
): Promise<ReturnType<Tasks[Name]>> {
  const module = compiledModule('resources/tests/test_plan/plan-tasks.ts')
  try {
    return await runInThread<Tasks[Name]>(owner, module, name, input, mostCpuMs)
  } catch (error) {
    throw error instanceof ThreadLimitExceeded ? refused('The request takes too long to read.') : error
  }
}
