import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { showLabel } from '../../parts/labels.ts'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { showToast } from '../../parts/toasts/toasts.ts'
import type { SuiteAddress } from '../suite/queries.ts'
import { deleteSuite } from './queries.ts'

export function DeleteSuite({ address, name }: { address: SuiteAddress; name: string }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  return (
    <section>
      <SectionHead title="Delete" />
      <Notice
        action={
          <Button isWrite kind="danger" icon="trash" onClick={() => setAsking(true)}>
            Delete…
          </Button>
        }
      >
        Its tests and all their results go with it. This cannot be undone.
      </Notice>
      {isAsking && (
        <ConfirmDialog
          title={`Delete ${showLabel(name)}?`}
          action="Delete this suite"
          typedName={name}
          onConfirm={async () => {
            await deleteSuite(address)
            await navigate({
              to: '/organizations/$org/analytics/suites',
              params: { org: address.org },
              ignoreBlocker: true,
            })
            await queryClient.invalidateQueries()
            showToast(`${name} is deleted.`)
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            Its runs, the history of its tests, their labels and quarantines are deleted too, and its token is
            refused. A pipeline whose steps name files of results begins an empty suite with the next of them.
          </p>
        </ConfirmDialog>
      )}
    </section>
  )
}
