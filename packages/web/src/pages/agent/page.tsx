import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { keyOf } from '../../api/queries.ts'
import { useLive } from '../../api/live.ts'
import { agentQuery, clusterQuery } from '../../api/resource-queries.ts'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Copy } from '../../parts/Copy.tsx'
import { Facts } from '../../parts/Facts.tsx'
import { Page } from '../../parts/Page.tsx'
import { PauseDialog } from '../../parts/dialogs/PauseDialog.tsx'
import { StateBadge } from '../../parts/state-badge/StateBadge.tsx'
import { isGone, NotLoaded } from '../../parts/States.tsx'
import { TimeOrNever } from '../../parts/time/Time.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import { stateOf } from '../agents/agent-state.ts'
import { JobLink } from '../agents/AgentTable.tsx'
import { pauseAgent, resumeAgent, stopAgent, type Agent } from '../agents/queries.ts'
import { PastJobs } from './PastJobs.tsx'

export function AgentPage() {
  const { org, cluster, agent: id } = useParams({ strict: false })
  useLive(org ?? null)
  const agentState = useQuery(agentQuery(org ?? '', id ?? ''))
  const agent = agentState.data
  const { data: home } = useQuery(clusterQuery(org ?? '', cluster ?? ''))
  const [open, setOpen] = useState<'pause' | 'stop' | null>(null)
  const change = useChange(org ?? '', agent)
  if (agent === undefined || isGone(agentState.error)) return <NotLoaded query={agentState} />
  const mayManage = home?.viewer?.may.manage === true && agent.connection_state === 'connected'
  return (
    <Page
      title={agent.name}
      before={<StateBadge kind="agent" {...stateOf(agent)} />}
      subtitle={
        agent.paused ? `Paused${agent.paused_note === null ? '' : `: ${agent.paused_note}`}` : undefined
      }
      actions={
        mayManage && (
          <>
            {agent.paused ? (
              <Button isWrite icon="play" onClick={() => void change(false, '')}>
                Resume
              </Button>
            ) : (
              <Button isWrite icon="pause" onClick={() => setOpen('pause')}>
                Pause…
              </Button>
            )}
            <Button isWrite kind="danger" icon="power-off" onClick={() => setOpen('stop')}>
              Stop…
            </Button>
          </>
        )
      }
    >
      <Facts
        isFramed
        facts={[
          ['Job', agent.job === null ? 'None' : <JobLink key="job" job={agent.job} />],
          ['Last job ended', <TimeOrNever key="ended" at={agent.last_job_finished_at} />],
          ['Queue', agent.queue ?? 'None'],
          ['Tags', agent.meta_data.join(', ') || 'None'],
          ['Host', agent.hostname],
          ['Address', agent.ip_address ?? 'Unknown'],
          ['System', `${agent.os_id} ${agent.arch}`],
          ['Version', agent.version],
          ['Connected', <TimeOrNever key="connected" at={agent.connected_at} />],
          [
            'Id',
            <span key="id">
              <code>{agent.id}</code> <Copy text={agent.id} label="id" />
            </span>,
          ],
        ]}
      />
      <h2>Jobs</h2>
      <PastJobs org={org ?? ''} agent={agent.id} />
      {open === 'pause' && (
        <PauseDialog
          title={`Pause ${agent.name}?`}
          effect="It finishes its job and takes no other until it is resumed."
          onPause={(note) => void change(true, note)}
          onClose={() => setOpen(null)}
        />
      )}
      {open === 'stop' && (
        <ConfirmDialog
          title={`Stop ${agent.name}?`}
          action="Stop this agent"
          onConfirm={() => stopAgent(org ?? '', agent.id)}
          onClose={() => setOpen(null)}
        >
          <p>
            {agent.job === null ? 'It disconnects.' : 'It finishes its job, then disconnects.'} It comes back
            only when somebody starts it on its machine.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  )
}

/** Pauses or resumes: shown at once, taken back if it is refused, and offered to be undone. */
function useChange(org: string, agent: Agent | undefined) {
  const queryClient = useQueryClient()
  return async function change(isPaused: boolean, note: string): Promise<void> {
    if (agent === undefined) return
    const { queryKey } = agentQuery(org, agent.id)
    const show = (paused: boolean) =>
      queryClient.setQueryData(
        queryKey,
        (before) => before && { ...before, paused, paused_note: note || null },
      )
    show(isPaused)
    try {
      await (isPaused ? pauseAgent(org, agent.id, note) : resumeAgent(org, agent.id))
      const undo = () => void change(!isPaused, note)
      showToast(isPaused ? `${agent.name} is paused.` : `${agent.name} takes jobs again.`, { undo })
    } catch (error) {
      show(!isPaused)
      showFailure(error)
    }
    await queryClient.invalidateQueries({ queryKey: keyOf('GET /v2/organizations/{org}/agents') })
  }
}
