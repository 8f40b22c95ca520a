// The pipelines of a soak: one for simulated agents, one for our runner with real commands.
import type { Rest } from './rest.ts'

export const runnerLines = 200
const retry = 'retry: {automatic: [{exit_status: -1, limit: 10}]}'
const simulatedSteps = `
steps:
  - {command: first, parallelism: 5, soft_fail: true, agents: {queue: simulated}, ${retry}}
  - {command: alone, soft_fail: true, concurrency: 4, concurrency_group: soak, agents: {queue: simulated}, ${retry}}
  - wait
  - {command: second, parallelism: 4, agents: {queue: simulated}, ${retry}}`
export const jobsOfSimulated = 10
const runnerSteps = `
env: {BUILDKITE_SKIP_CHECKOUT: "true"}
steps:
  - command: |
      for line in $$(seq 1 ${runnerLines}); do echo "line $$line of $$BUILDKITE_JOB_ID"; done
      echo "file of $$BUILDKITE_JOB_ID" > "$$BUILDKITE_JOB_ID.txt"
      buildkite-agent artifact upload "$$BUILDKITE_JOB_ID.txt"
      buildkite-agent meta-data set "runner-$$BUILDKITE_JOB_ID" "$$BUILDKITE_JOB_ID"
      buildkite-agent annotate "note of $$BUILDKITE_JOB_ID" --context "runner-$$BUILDKITE_JOB_ID"
      rm "$$BUILDKITE_JOB_ID.txt"
    parallelism: 4
    agents: {queue: runner}
    ${retry}`
export const jobsOfRunner = 4

/** Creates the queues and pipelines, and returns a token for agents. */
export async function createPipelines(rest: Rest): Promise<string> {
  const [cluster] = await rest.get<Array<{ id: string }>>('clusters')
  const clusterId = cluster?.id ?? ''
  for (const key of ['simulated', 'runner']) await rest.post(`clusters/${clusterId}/queues`, { key })
  for (const [name, configuration] of [
    ['soak-simulated', simulatedSteps],
    ['soak-runner', runnerSteps],
  ]) {
    const repository = 'https://git.example.com/soak.git'
    await rest.post('pipelines', { name, repository, cluster_id: clusterId, configuration })
  }
  const { token } = await rest.post<{ token: string }>(`clusters/${clusterId}/tokens`, {
    description: 'soak',
  })
  return token
}
