// The cache test that every engine must pass.
import { expect } from 'vitest'
import type { HostedCluster, Pipeline } from './hosted-cluster.ts'

/** The pipeline runs the variable SCRIPT and caches the folder `kept`, which has a copy of /etc/one afterwards. */
export async function expectCacheOfPassedJobs(cluster: HostedCluster, pipeline: Pipeline): Promise<void> {
  const run = (script: string) => cluster.run(pipeline, { SCRIPT: script })
  expect(await run('cat kept/a')).toMatchObject({ state: 'failed' })
  expect(await run('cp /etc/one kept/a')).toMatchObject({ state: 'passed' })
  expect(await run('cp /etc/two kept/a; false')).toMatchObject({ state: 'failed' })
  const found = await run('cat kept/a')
  expect(found.log).toContain('\none\n')
  expect(found).toMatchObject({ state: 'passed' })
  await cluster.untilIdle()
}
