import { useState } from 'react'
import { addressOf } from '../../../api/call.ts'
import type { JobAddress } from '../../../api/addresses.ts'
import type { Schemas } from '../../../api/operations.ts'
import type { Job } from '../../../graph/jobs/job.ts'
import { copyText } from '../../../parts/copy.ts'
import { Icon } from '../../../parts/Icon.tsx'
import type { MenuEntry } from '../../../parts/menu/entry.ts'
import { Menu } from '../../../parts/Menu.tsx'
import { curlOf } from '../curl.ts'
import { canReprioritize } from './job-actions.ts'
import { Reprioritize } from './Reprioritize.tsx'

interface Props {
  address: JobAddress
  job: Job
  detail: Schemas['Job'] | undefined
  mayBuild: boolean
}

export function JobMenu({ address, job, detail, mayBuild }: Props) {
  const [isAsking, setAsking] = useState(false)
  const log = addressOf(
    '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}/log.txt',
    address,
  )
  const link = () => `${location.origin}${location.pathname}#${job.id}`
  const entries: MenuEntry[] = [
    ...(mayBuild && canReprioritize(job)
      ? [{ label: 'Change the priority…', icon: 'arrow-up' as const, action: () => setAsking(true) }]
      : []),
    ...(job.kind === 'command'
      ? [{ label: 'Log as plain text', icon: 'file-text' as const, action: { href: log } }]
      : []),
    { label: 'Copy link', icon: 'link', action: () => void copyText(link()) },
    { label: 'Copy as curl', icon: 'terminal', action: () => void copyText(curlOf(address, job.id)) },
    { label: 'Copy the job’s id', icon: 'copy', action: () => void copyText(job.id) },
  ]
  return (
    <>
      <Menu label="More about this job" entries={entries}>
        <Icon name="ellipsis" />
      </Menu>
      {isAsking && (
        <Reprioritize
          address={address}
          priority={detail?.priority.number ?? 0}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
