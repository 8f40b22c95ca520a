import { useState } from 'react'
import type { BuildAddress } from '../../api/addresses.ts'
import { useWritesOff } from '../../api/reachable.ts'
import type { Schemas } from '../../api/operations.ts'
import type { JobTable } from '../../graph/jobs/job-table.ts'
import { useJobTable } from '../../graph/jobs/use-job-table.ts'
import { Button } from '../../parts/Button.tsx'
import { copyText } from '../../parts/copy.ts'
import { Icon } from '../../parts/Icon.tsx'
import type { MenuEntry } from '../../parts/menu/entry.ts'
import { Menu } from '../../parts/Menu.tsx'
import { isCanceled, isOver, useBuildActions } from './build-actions.ts'
import { CancelBuild } from './CancelBuild.tsx'
import { curlOf } from './curl.ts'
import { usePhone } from '../../parts/use-media.ts'

interface Props {
  address: BuildAddress
  build: Schemas['Build']
  table: JobTable
  mayBuild: boolean
  allowsRebuilds: boolean
}

/** Only what the server would carry out is offered. */
export function BuildActions({ address, build, table, mayBuild, allowsRebuilds }: Props) {
  useJobTable(table)
  const isPhone = usePhone()
  const off = useWritesOff()
  const disabled = off === undefined ? {} : { disabledReason: off }
  const [isAsking, setAsking] = useState(false)
  const { retryFailed, rebuild, cancel } = useBuildActions(address)
  const { failed } = table.groups().counts
  const canRetry = mayBuild && failed > 0 && !isCanceled(build)
  const canRebuild = mayBuild && allowsRebuilds
  const canCancel = mayBuild && (!isOver(build) || build.blocked) && build.state !== 'canceling'
  const entries: MenuEntry[] = [
    ...(isPhone && canRebuild
      ? [{ label: 'Rebuild', icon: 'refresh-cw' as const, ...disabled, action: rebuild.start }]
      : []),
    ...(isPhone && canCancel
      ? [
          {
            label: 'Cancel…',
            icon: 'ban' as const,
            isDanger: true,
            ...disabled,
            action: () => setAsking(true),
          },
        ]
      : []),
    { label: 'Copy as curl', icon: 'terminal', action: () => void copyText(curlOf(address)) },
    { label: 'Copy the build’s id', icon: 'copy', action: () => void copyText(build.id) },
    { label: 'Copy link', icon: 'link', action: () => void copyText(build.web_url) },
  ]
  return (
    <>
      {canRetry && (
        <Button
          isWrite
          kind="primary"
          icon="rotate-ccw"
          isBusy={retryFailed.isBusy}
          disabled={retryFailed.isBusy}
          onClick={retryFailed.start}
        >
          Retry failed {failed}
        </Button>
      )}
      {canRebuild && !isPhone && (
        <Button
          isWrite
          icon="refresh-cw"
          isBusy={rebuild.isBusy}
          disabled={rebuild.isBusy}
          onClick={rebuild.start}
        >
          Rebuild
        </Button>
      )}
      {canCancel && !isPhone && (
        <Button
          isWrite
          icon="ban"
          isBusy={cancel.isBusy}
          disabled={cancel.isBusy}
          onClick={() => setAsking(true)}
        >
          Cancel
        </Button>
      )}
      <Menu label="More about this build" entries={entries}>
        <Icon name="ellipsis" />
      </Menu>
      {isAsking && (
        <CancelBuild
          counts={table.groups().counts}
          onClose={() => setAsking(false)}
          onCancel={cancel.start}
        />
      )}
    </>
  )
}
