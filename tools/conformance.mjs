// Runs the conformance suite of the agent protocol with the public agent and with our runner.
import { findAgentBinary } from './testing/agent-binary.mjs'

if (findAgentBinary() === null) {
  console.error(
    'There is no buildkite-agent: install one, or set BUILDKITE_AGENT_BIN to its path. (npm run test:all runs the suite with our own runner.)',
  )
  process.exitCode = 1
} else {
  process.argv.push('--project', 'e2e', 'e2e/agent-conformance.test.ts')
  await import('./test.mjs')
}
