// Sends an agent its instructions: in answers to its pings, or on a stream that stays open. Both read the agent, answer at
// once when there is an instruction, and otherwise wait in dispatcher.ts for a job or a change.
import { Readable } from 'node:stream'
import type { PingResponse } from '@millrace/protocol/agents.ts'
import { STREAM_PINGS_PATH, type StreamPingsResponse } from '@millrace/protocol/pings.ts'
import { act } from '../../conductor/act.ts'
import { isJobAlive, loseJob, undecidedMs } from '../../conductor/lost-agents.ts'
import type { Context } from '../../context.ts'
import { ok, type Answer } from '../../http/answer.ts'
import { notFound } from '../../lib/errors.ts'
import { agentRoute } from '../route.ts'
import type { Dispatcher } from '../../conductor/dispatch/dispatcher.ts'
import type { Woken } from '../../conductor/dispatch/waiter.ts'
import { frameOf, readAgentId } from './stream-frames.ts'
import { getAgent, type Agent, type AgentJob } from '../tokens.ts'

/** Agents give up on any answer after 60 s. */
const streamMs = 50_000

const ping = agentRoute({
  method: 'GET',
  url: '/v3/ping',
  token: 'session',
  async handler({ ctx, dispatcher, agent, request }) {
    const endsAt = performance.now() + ctx.config.timers.pingHoldSeconds * 1000
    let asking = await releaseAbandonedJob(ctx, agent, (ms) =>
      dispatcher.wait(agent, { isIdle: false, ms, signal: request.gone() }),
    )
    let instruction = instructionFor(asking)
    // Some changes need no answer, such as the end of the agent's last job.
    for (let isOver = false; instruction.action === 'resume' && !isOver;) {
      const woken = await waitFor(dispatcher, asking, Math.max(endsAt - performance.now(), 0), request.gone())
      if (woken.kind === 'assigned') return ok(pingAnswer({ action: 'job', job_id: woken.jobId }))
      if (woken.kind === 'changed') asking = await getAgent(ctx, asking.organizationId, asking.id)
      instruction = instructionFor(asking)
      isOver = woken.kind === 'nothing'
    }
    return ok(pingAnswer(instruction))
  },
})

const streamPings = agentRoute({
  method: 'POST',
  url: STREAM_PINGS_PATH,
  token: 'session',
  makesNoWork: true,
  async handler({ ctx, dispatcher, agent, request }) {
    if (readAgentId(request.body) !== agent.id) throw notFound('No agent found')
    ctx.agentActivity.recordStream(agent)
    return stream(ctx, agent, instructions(ctx, dispatcher, agent, request.gone()))
  },
})

/**
 * An agent pings only when it is idle. So it has abandoned a job that it started, unless the job sent a request just now:
 * an agent that loses its stream may ping once while it works. The ping waits while that is not decided. A job that was
 * only offered is offered again, unless the agent may take none now.
 */
async function releaseAbandonedJob(
  ctx: Context,
  agent: Agent,
  wait: (ms: number) => Promise<Woken>,
): Promise<Agent> {
  const { job, organizationId } = agent
  if (job === null) return agent
  const hasStarted = job.state !== 'assigned' && job.state !== 'accepted'
  const mayTakeJobs = agent.pausedAt === null && agent.connectionState !== 'stopping'
  if (hasStarted ? isJobAlive(ctx, job) : mayTakeJobs) return agent
  const waitMs = hasStarted ? undecidedMs(ctx, job) : 0
  if (waitMs > 0) {
    // Timers may be a little early.
    const woken = await wait(waitMs + 10)
    // The agent is gone, or the process stops.
    if (woken.kind === 'nothing' && undecidedMs(ctx, job) > 0) return agent
    return releaseAbandonedJob(ctx, await getAgent(ctx, organizationId, agent.id), wait)
  }
  if (hasStarted) await loseJob(ctx, organizationId, job)
  else await act(ctx, organizationId, job.buildId, { type: 'give_back', jobId: job.id })
  return getAgent(ctx, organizationId, agent.id)
}

function instructionFor(agent: Agent): StreamPingsResponse {
  const { job } = agent
  if (job?.state === 'assigned' || job?.state === 'accepted') return { action: 'job', job_id: job.id }
  if (agent.connectionState !== 'connected' && agent.connectionState !== 'never_connected') {
    return { action: 'disconnect', reason: 'The agent was asked to stop' }
  }
  return agent.pausedAt === null ? { action: 'resume' } : { action: 'pause', reason: agent.pausedNote ?? '' }
}

function pingAnswer(instruction: StreamPingsResponse): PingResponse {
  switch (instruction.action) {
    case 'resume':
      return {}
    case 'job':
      return { job: { id: instruction.job_id } }
    case 'pause':
    case 'disconnect':
      return {
        action: instruction.action,
        ...(instruction.reason === '' ? {} : { message: instruction.reason }),
      }
  }
}

const waitFor = (dispatcher: Dispatcher, agent: Agent, ms: number, signal: AbortSignal): Promise<Woken> => {
  const { connectionState, pausedAt, ignoreInDispatches, job } = agent
  const isIdle = connectionState === 'connected' && pausedAt === null && !ignoreInDispatches && job === null
  return dispatcher.wait(agent, { isIdle, ms, signal })
}

/** gRPC sends its status after the last frame. */
function stream(ctx: Context, agent: Agent, instructions: AsyncIterable<StreamPingsResponse>): Answer {
  let status: string = grpcStatus.ok
  async function* frames(): AsyncGenerator<Buffer> {
    try {
      for await (const instruction of instructions) yield frameOf(instruction)
    } catch (error) {
      ctx.log.warn({ err: error, agent_id: agent.id }, 'The ping stream of an agent broke off.')
      status = grpcStatus.unavailable
    }
  }
  return {
    status: 200,
    stream: Readable.from(frames()),
    headers: { 'Content-Type': 'application/grpc' },
    trailers: { 'grpc-status': () => status },
  }
}

const grpcStatus = { ok: '0', unavailable: '14' } as const

/**
 * The first instruction at once, then each new one. An agent that has accepted a job and not started it when it opens its
 * stream, or whose job sent no request for long, is offered the same job once more: if it abandoned the job, because the
 * answer to its accept or start was lost, it accepts it again, and then runs it or learns that it is over. If it has the
 * job, it reads the offer only after the job's end.
 */
async function* instructions(
  ctx: Context,
  dispatcher: Dispatcher,
  opened: Agent,
  gone: AbortSignal,
): AsyncGenerator<StreamPingsResponse> {
  const closesAt = performance.now() + streamMs
  let agent = opened
  let hasBegun = false
  let hasOfferedAgain = false
  // The last instruction; null: none, or the agent has had a job since.
  let last: string | null = null
  while (!gone.aborted) {
    // An agent with a job needs no instruction until its end, but every stream must begin with one.
    const busyWith: AgentJob | null = agent.job !== null && agent.job.state !== 'assigned' ? agent.job : null
    const isUnstarted = busyWith?.state === 'accepted' && !hasBegun
    const isSilent = busyWith !== null && untilDoubtfulMs(ctx, busyWith) <= 0
    const doubtful = isUnstarted || isSilent ? busyWith : null
    const offersAgain: boolean = doubtful !== null && !hasOfferedAgain
    const instruction =
      busyWith === null ? instructionFor(agent) : busyInstruction(offersAgain ? doubtful : null)
    if (busyWith === null ? JSON.stringify(instruction) !== last : !hasBegun || offersAgain) yield instruction
    if (instruction.action === 'disconnect') return
    hasBegun = true
    hasOfferedAgain ||= offersAgain
    last = busyWith === null ? JSON.stringify(instruction) : null
    const leftMs = closesAt - performance.now()
    const doubtMs = busyWith === null || hasOfferedAgain ? Infinity : untilDoubtfulMs(ctx, busyWith)
    const waitsUntil = performance.now() + Math.min(leftMs, doubtMs)
    const woken = await waitFor(dispatcher, agent, Math.max(waitsUntil - performance.now(), 0), gone)
    // Timers may be a little early.
    const isDoubtDue = doubtMs < leftMs && performance.now() >= waitsUntil - 10
    if (woken.kind === 'nothing' && !isDoubtDue) return
    // Nothing else of the agent has changed, and what changes from now on is announced.
    if (woken.kind === 'assigned') agent = withOffered(agent, woken)
    else agent = await getAgent(ctx, agent.organizationId, agent.id)
  }
}

const withOffered = (agent: Agent, { jobId: id, buildId }: Extract<Woken, { kind: 'assigned' }>): Agent => ({
  ...agent,
  job: { id, buildId, state: 'assigned', startedAt: null, hadStream: true, heardAt: null },
})

const busyInstruction = (offered: AgentJob | null): StreamPingsResponse =>
  offered === null ? { action: 'resume' } : { action: 'job', job_id: offered.id }

/** How long until a running job has sent no request for a third of the time that loses an agent. */
function untilDoubtfulMs(ctx: Context, { state, startedAt, heardAt }: AgentJob): number {
  if (state === 'accepted' || startedAt === null) return Infinity
  const lastSign = new Date(heardAt ?? startedAt).getTime()
  return lastSign + (ctx.config.timers.agentLostSeconds * 1000) / 3 - ctx.now().getTime()
}

export const pingApi = [ping, streamPings]
