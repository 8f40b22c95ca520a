// Calls to the agent that runs this job, over the socket that the agent opened for it.

import { needlesOf, REDACTED_VARIABLES, secretValues } from '../log/secrets.ts'
import { redactText } from '../log/redactor.ts'
import { askPatiently, askSocket } from '../sockets/http.ts'
import { JOB_SOCKET_PATH } from '../sockets/job-socket.ts'
import { Exit } from './verb.ts'
import type { Io } from './verb.ts'

/** Throws if there is no agent, or if the agent refuses. */
export async function askAgent(
  io: Io,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const socket = io.env['BUILDKITE_AGENT_JOB_API_SOCKET'] ?? ''
  const token = io.env['BUILDKITE_AGENT_JOB_API_TOKEN'] ?? ''
  if (socket === '' || token === '')
    throw new Exit(1, 'This works only inside a job of an agent on this machine.')
  const question = { method, path: `${JOB_SOCKET_PATH}${path}`, token, body }
  const answer = await askPatiently(() => askSocket(socket, question))
  const given = typeof answer.body === 'object' && answer.body !== null ? answer.body : {}
  if (answer.status > 299)
    throw new Exit(1, 'error' in given ? String(given.error) : `The agent answered ${answer.status}.`)
  return given as Record<string, unknown>
}

function hasAgent(io: Io): boolean {
  return (io.env['BUILDKITE_AGENT_JOB_API_SOCKET'] ?? '') !== ''
}

/** The log redacts the value from now on. */
export async function hideValue(io: Io, value: string): Promise<void> {
  await askAgent(io, 'POST', '/redactions', { redact: value })
}

/** Redacts the secrets that the agent knows in a text that leaves the machine. */
export async function withoutSecrets(io: Io, text: string): Promise<string> {
  if (hasAgent(io)) {
    const { text: redacted } = await askAgent(io, 'POST', '/redacted', { text })
    return String(redacted)
  }
  return redactText(text, secretValues(io.env, redactedVariables(io)).flatMap(needlesOf))
}

export function redactedVariables(io: Io): readonly string[] {
  const named = io.env['BUILDKITE_REDACTED_VARS'] ?? ''
  return named === '' ? REDACTED_VARIABLES : named.split(',')
}
