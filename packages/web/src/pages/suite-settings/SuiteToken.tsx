import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/dialogs/ConfirmDialog.tsx'
import { Notice } from '../../parts/settings/Notice.tsx'
import { SectionHead } from '../../parts/settings/SectionHead.tsx'
import { showFailure, showToast } from '../../parts/toasts/toasts.ts'
import type { SuiteAddress } from '../suite/queries.ts'
import { SendResults } from '../suite/SendResults.tsx'
import { readToken, rotateToken } from './queries.ts'

export function SuiteToken({ address }: { address: SuiteAddress }) {
  // Undefined: nobody has asked for it. Null: nobody knows it.
  const [token, setToken] = useState<string | null>()
  const [isRotating, setRotating] = useState(false)
  const show = async () => {
    try {
      setToken((await readToken(address)).api_token ?? null)
    } catch (error) {
      showFailure(error)
    }
  }
  return (
    <section>
      <SectionHead title="Token">
        <Button isWrite icon="rotate-ccw" onClick={() => setRotating(true)}>
          New token…
        </Button>
      </SectionHead>
      {typeof token === 'string' ? (
        <SendResults token={token} />
      ) : (
        <Notice action={token === undefined && <Button onClick={() => void show()}>Show the token</Button>}>
          {token === null
            ? 'Nobody knows the token of this suite, because its pipeline sends without one. A new token can be used.'
            : 'Results from elsewhere are sent with it. Steps that name their files of results need none.'}
        </Notice>
      )}
      {isRotating && (
        <ConfirmDialog
          title="Give this suite a new token?"
          action="Make a new token"
          onConfirm={async () => {
            setToken((await rotateToken(address)).api_token)
            showToast('The suite has a new token.')
          }}
          onClose={() => setRotating(false)}
        >
          <p>The old token is refused at once. Whatever sends results with it needs the new one.</p>
        </ConfirmDialog>
      )}
    </section>
  )
}
