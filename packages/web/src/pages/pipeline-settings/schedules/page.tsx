import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../parts/Button.tsx'
import { ConfirmDialog } from '../../../parts/dialogs/ConfirmDialog.tsx'
import { useListKeys, useRowStops } from '../../../parts/list-keys.ts'
import { Empty, NotLoaded, ShowMore } from '../../../parts/States.tsx'
import { showFailure, showToast } from '../../../parts/toasts/toasts.ts'
import { PipelineSettings } from '../PipelineSettings.tsx'
import type { PipelineAddress } from '../queries.ts'
import { deleteSchedule, runNow, schedulesQuery, updateSchedule, type Schedule } from './queries.ts'
import { ScheduleDialog } from './ScheduleDialog.tsx'
import { nameOf, ScheduleRow, type ScheduleActions } from './ScheduleRow.tsx'
import styles from './schedules.module.css'

export function SchedulesPage() {
  const address = useParams({ from: '/$org/$pipeline/settings/schedules' })
  const queryClient = useQueryClient()
  const [open, setOpen] = useState<{ schedule: Schedule | null } | null>(null)
  const [deleting, setDeleting] = useState<Schedule | null>(null)
  const reload = () => queryClient.invalidateQueries({ queryKey: schedulesQuery(address).queryKey })
  const actions = useScheduleActions(address, reload)
  return (
    <PipelineSettings
      address={address}
      name="schedules"
      subtitle="Builds that are made again and again. Times are those of your time zone."
      renderActions={({ may }) =>
        may.edit && (
          <Button isWrite kind="primary" icon="plus" onClick={() => setOpen({ schedule: null })}>
            New schedule
          </Button>
        )
      }
    >
      {({ pipeline, may }) => (
        <>
          <Schedules
            address={address}
            actions={{
              ...(may.build && pipeline.archived_at === null ? { onRun: actions.onRun } : {}),
              ...(may.edit
                ? {
                    onEdit: (schedule) => setOpen({ schedule }),
                    onEnable: actions.onEnable,
                    onDelete: setDeleting,
                  }
                : {}),
            }}
          />
          {open !== null && (
            <ScheduleDialog
              address={address}
              pipeline={pipeline}
              schedule={open.schedule}
              onSaved={reload}
              onClose={() => setOpen(null)}
            />
          )}
          {deleting !== null && (
            <ConfirmDialog
              title={`Delete the schedule ${nameOf(deleting)}?`}
              action="Delete this schedule"
              onConfirm={async () => {
                await deleteSchedule(address, deleting.id)
                await reload()
                showToast(`The schedule ${nameOf(deleting)} is deleted.`)
              }}
              onClose={() => setDeleting(null)}
            >
              <p>It makes no more builds. Those that it has made stay.</p>
            </ConfirmDialog>
          )}
        </>
      )}
    </PipelineSettings>
  )
}

function useScheduleActions(address: PipelineAddress, reload: () => Promise<unknown>) {
  const navigate = useNavigate()
  const enable = async (schedule: Schedule, isEnabled: boolean) => {
    try {
      await updateSchedule(address, schedule.id, { enabled: isEnabled })
      showToast(`${nameOf(schedule)} is ${isEnabled ? 'on' : 'off'}.`, {
        undo: () => void enable(schedule, !isEnabled),
      })
    } catch (error) {
      showFailure(error)
    }
    await reload()
  }
  const run = async (schedule: Schedule) => {
    try {
      const { number } = await runNow(address, schedule)
      await navigate({
        to: '/$org/$pipeline/builds/$number',
        params: { ...address, number: String(number) },
      })
    } catch (error) {
      showFailure(error)
    }
  }
  return {
    onEnable: (schedule: Schedule, isEnabled: boolean) => void enable(schedule, isEnabled),
    onRun: (schedule: Schedule) => void run(schedule),
  }
}

function Schedules({ address, actions }: { address: PipelineAddress; actions: ScheduleActions }) {
  useListKeys()
  const rowStops = useRowStops<HTMLUListElement>()
  const list = useInfiniteQuery(schedulesQuery(address))
  const rows = list.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined) return <NotLoaded query={list} />
  if (rows.length === 0)
    return (
      <Empty title="No schedules yet">
        A schedule builds the pipeline every night, or every Monday at nine.
      </Empty>
    )
  return (
    <>
      <ul ref={rowStops} className={`card ${styles.list}`} aria-label="Schedules">
        {rows.map((schedule) => (
          <li key={schedule.id} className={styles.row} data-list-row>
            <ScheduleRow address={address} schedule={schedule} {...actions} />
          </li>
        ))}
      </ul>
      <ShowMore list={list} />
    </>
  )
}
