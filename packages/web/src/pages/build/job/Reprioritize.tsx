import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { JobAddress } from '../../../api/addresses.ts'
import { call } from '../../../api/call.ts'
import { keyOf } from '../../../api/queries.ts'
import { Button } from '../../../parts/Button.tsx'
import { Dialog } from '../../../parts/dialogs/Dialog.tsx'
import { TextField } from '../../../parts/Field.tsx'
import { showToast } from '../../../parts/toasts/toasts.ts'
import { useAction } from '../use-action.ts'

const job = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}/jobs/{job}' as const

interface Props {
  address: JobAddress
  priority: number
  onClose: () => void
}

export function Reprioritize({ address, priority, onClose }: Props) {
  const client = useQueryClient()
  const [text, setText] = useState(String(priority))
  const isNumber = /^-?\d{1,9}$/.test(text.trim())
  const { isBusy, start } = useAction({
    send: async (idempotencyKey) => {
      const body = { priority: Number(text) }
      await call(`PUT ${job}/reprioritize`, { params: address, body, idempotencyKey })
      void client.invalidateQueries({ queryKey: keyOf(`GET ${job}`, { params: address }) })
      showToast(`The priority is ${body.priority}.`)
      onClose()
    },
  })
  return (
    <Dialog
      title="Priority"
      isOpen
      onClose={onClose}
      actions={
        <Button isWrite kind="primary" isBusy={isBusy} disabled={isBusy || !isNumber} onClick={start}>
          Set the priority
        </Button>
      }
    >
      <TextField
        label="Priority"
        type="number"
        value={text}
        hint="Agents take jobs with a higher number first."
        problem={isNumber ? undefined : 'A whole number is needed.'}
        onValue={setText}
      />
    </Dialog>
  )
}
