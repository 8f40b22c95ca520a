import { useQuery } from '@tanstack/react-query'
import type { JobAddress } from '../../../api/addresses.ts'
import { Button } from '../../../parts/Button.tsx'
import { jobQuery } from '../queries.ts'

interface Props {
  address: JobAddress
  state: string
  onOpen: () => void
}

/** Opens the job, where its form is. Who may unblock is a matter of each job: its step may name teams. */
export function UnblockButton({ address, state, onOpen }: Props) {
  const { data: job } = useQuery(jobQuery(address, state))
  if (job?.viewer?.may.unblock !== true) return null
  return (
    <Button isWrite onClick={onOpen}>
      Unblock…
    </Button>
  )
}
