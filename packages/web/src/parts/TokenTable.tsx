import { useState } from 'react'
import { Button } from './Button.tsx'
import { ConfirmDialog } from './dialogs/ConfirmDialog.tsx'
import { showLabel } from './labels.ts'
import { Table, type Column } from './Table.tsx'

interface Props<Token> {
  label: string
  tokens: readonly Token[]
  /** Beside the description. */
  columns: ReadonlyArray<Column<Token>>
  /** What happens to those who use a revoked token. */
  effect: string
  onRevoke: (token: Token) => Promise<void>
  /** Offers to change the token. */
  onEdit?: (token: Token) => void
}

/** Tokens, each with a button that revokes it. */
export function TokenTable<Token extends { id: string; description: string }>(props: Props<Token>) {
  const { label, tokens, columns, effect, onRevoke, onEdit } = props
  const [revoking, setRevoking] = useState<Token | null>(null)
  return (
    <>
      <Table
        label={label}
        rows={tokens}
        columns={[{ head: 'Description', render: ({ description }) => description }, ...columns]}
        renderAction={(token) => (
          <>
            {onEdit !== undefined && (
              <>
                <Button
                  isWrite
                  aria-label={`Edit ${showLabel(token.description)}`}
                  onClick={() => onEdit(token)}
                >
                  Edit…
                </Button>{' '}
              </>
            )}
            <Button isWrite kind="danger" onClick={() => setRevoking(token)}>
              Revoke…
            </Button>
          </>
        )}
      />
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke “${revoking.description}”?`}
          action="Revoke this token"
          onConfirm={() => onRevoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>{effect}</p>
        </ConfirmDialog>
      )}
    </>
  )
}
