import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { newKey } from '../../api/call.ts'
import { Button } from '../../parts/Button.tsx'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import { FormDialog } from '../../parts/dialogs/FormDialog.tsx'
import { TextField } from '../../parts/Field.tsx'
import { showLabel } from '../../parts/labels.ts'
import { SendResults } from '../suite/SendResults.tsx'
import { createSuite, suitesQuery } from './queries.ts'

export function NewSuiteDialog({ org, onClose }: { org: string; onClose: () => void }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [branch, setBranch] = useState('main')
  const [key, setKey] = useState(newKey)
  const create = useMutation({
    mutationFn: () => createSuite(org, { name, default_branch: branch }, key),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: suitesQuery(org).queryKey }),
    onError: () => setKey(newKey()),
  })
  if (create.data !== undefined) {
    const { slug: suite, name: given, api_token: token } = create.data
    const leave = () =>
      void navigate({ to: '/organizations/$org/analytics/suites/$suite', params: { org, suite } })
    return (
      <Dialog
        title={`Send results to ${showLabel(given)}`}
        isOpen
        onClose={leave}
        size="wide"
        actions={
          <Button kind="primary" onClick={leave}>
            Done
          </Button>
        }
      >
        <p>
          Run these lines in a shell, or in a step that has the token as a secret. The settings of the suite
          show them again.
        </p>
        <SendResults token={token} />
      </Dialog>
    )
  }
  return (
    <FormDialog
      title="New test suite"
      action="Create suite"
      isBusy={create.isPending}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        required
        maxLength={255}
        pattern=".*[A-Za-z0-9].*"
        placeholder="Browser tests"
        problem={create.error?.message}
        onValue={setName}
      />
      <TextField
        label="Default branch"
        value={branch}
        maxLength={255}
        hint="Its runs say which tests are broken or flaky."
        onValue={setBranch}
      />
    </FormDialog>
  )
}
