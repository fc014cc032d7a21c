/*
 * One run of up to two mutations, one after the other, as the engine executes them.
 *
 * Two attempt slots, two reconcilers, two publishers, the database's clock, the receiver, a person
 * who cancels. Each `atomic` option is one transaction of the engine or one act of the outside; its
 * comment names the statements (orchestrator/store/sql/*.sql) and the function it stands for. Every
 * transaction that decides holds the run's row (lock_run.sql, lock_run_if_free.sql, share_run.sql),
 * which is why one option may be atomic. Between two options anything may happen: a process that
 * takes no step for a while is a frozen one, and it wakes up late.
 *
 * What goes wrong is drawn from one budget, FAULTS: a crash of a slot or a publisher, a lease or a
 * hold that runs out under a live owner, a lost request, a lost answer, an impatient client, a
 * request turned away. The search covers every combination of that many, at every moment.
 *
 * Build options (-D):
 *   KEY          the receiver enforces an idempotency key; without it, it enforces nothing
 *   CANCEL       a person cancels the run at any moment
 *   PUBLISHERS   two of them; without, outbox rows are only written
 *   STEPS, RECONCILERS (1 or 2), FAULTS
 * and the planted faults that check.py names, each of which breaks one rule.
 */

#ifndef STEPS
#define STEPS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef RECONCILERS
#define RECONCILERS 2
#endif

#ifdef KEY
#define HAS_KEY true
#else
#define HAS_KEY false
#endif

#define NOBODY 9
#define LOST_BUDGET 1      /* domain/budgets.py: Limits.lost */
#define TRANSPORT_BUDGET 1 /* domain/budgets.py: Limits.transport */

mtype:workflow_status = { RUNNING, CANCELLING, ENDED };
mtype:step_status = { UNBORN, DUE, LEASED, UNSETTLED, SUCCEEDED, FAILED, CANCELLED };
mtype:operation_status = { NO_INTENT, INTENDED, SENT, AMBIGUOUS, CONFIRMED, REFUSED, ABANDONED };
mtype:outbox_status = { NO_ROW, PENDING, TAKEN, PUBLISHED };
mtype:reply = { NO_REQUEST, FLYING, APPLIED, TURNED_AWAY, SILENCE };

/* ---- The database: what survives every crash. -------------------------------------------- */

typedef Step {
    mtype:step_status status;
    byte generation;
    byte lost, turned_away; /* spent of the two budgets */
    bool older_run;         /* its run's generation has moved on (R9) */
    bool exhausted          /* a budget is spent: nobody goes on with it */
};
typedef Claim { bool row, owned, expired; byte generation };
typedef Operation {
    mtype:operation_status status;
    byte version;
    byte unproved;          /* how often it was sent and not proved undone */
    bool looked             /* observed since it became ambiguous */
};
typedef Outbox { mtype:outbox_status status; bool locked, hold_over };

mtype:workflow_status workflow = RUNNING;
Step step[STEPS];
Claim claim[STEPS];
Operation operation[STEPS];
Outbox outbox[STEPS];

/* ---- The outside, and the budget of what goes wrong. ------------------------------------- */

byte effects[STEPS];     /* admitted by the receiver */
byte astray[STEPS];      /* requests under way whose sender no longer waits */
byte may_land[STEPS];    /* requests under way, and senders that may still send theirs */
bool owner_died[STEPS];  /* nobody renews this lease any more */
bool taker_died[STEPS];  /* nobody hands this row over any more */
byte faults = FAULTS;

/* ---- Ghosts: they are asserted on and guard nothing. ------------------------------------- */

byte holder[STEPS];      /* whom the last claim gave the step; nobody once it was taken away */
byte closed[STEPS];      /* accepted completions: success, failure or adoption */
byte followed[STEPS];    /* decisions that followed: a next step, or the end of the run */
bool delivered[STEPS];   /* the row reached the subscribers */
#ifndef KEY
byte left[STEPS];        /* requests that left and were not proved undone */
#endif

/* ---- Guards, as the statements write them. ----------------------------------------------- */

/* `owner = :worker AND generation = :generation`. Both slots may be of one worker that was frozen
 * as a whole and claims again with the second: the owner is the same, the generation decides. */
#ifdef NO_GENERATION_GUARD
#define HOLDS(s, g) (claim[s].owned)
#else
#define HOLDS(s, g) (claim[s].owned && claim[s].generation == g)
#endif

/* `version = :version AND status IN ('sent', 'ambiguous')` */
#ifdef NO_VERSION_GUARD
#define UNCHANGED(s, v) (operation[s].status == SENT || operation[s].status == AMBIGUOUS)
#else
#define UNCHANGED(s, v) (operation[s].version == v && \
                         (operation[s].status == SENT || operation[s].status == AMBIGUOUS))
#endif

/* store/steps.py active_of_older_generation: one look stands for QUICK_LOOKS. */
#define ACTIVE(s) (step[s].status == LEASED || step[s].status == UNSETTLED && !operation[s].looked)

/* Whether somebody goes on with the step, when its operation proves absent. */
#define WANTED(s) (!step[s].older_run && !step[s].exhausted)

/* store/operations.py due_for_observation. A look that would see the same again is left out. */
#define WORTH_A_LOOK(s) (operation[s].status == AMBIGUOUS && \
                         (!operation[s].looked || effects[s] > 0 || WANTED(s) && HAS_KEY || \
                          !WANTED(s) && may_land[s] == 0))

/* reconciler/verdicts.py _absent: the receiver itself refuses a duplicate. */
#ifdef ABSENCE_SETTLES
#define MAY_SEND_AGAIN true
#else
#define MAY_SEND_AGAIN HAS_KEY
#endif
/* Absence ends what nobody wants only once every request is dead: "absent" fences nothing (R21). */
#ifdef ABSENCE_FENCES
#define MAY_END (dead || HAS_KEY)
#else
#define MAY_END dead
#endif

/* ---- Pieces of transactions: used inside an atomic block, never alone. ------------------- */

/* publish_step_unless_paused.sql: the claim row is the publication; the generation goes on. */
inline publish(s) {
    step[s].status = DUE;
    claim[s].row = true;
    claim[s].generation = step[s].generation
}

/* release_claim_if_held.sql, release_claim_if_expired.sql: the row is deleted, no lease is left. */
inline release(s) {
    claim[s].row = false; claim[s].owned = false; claim[s].expired = false;
    claim[s].generation = 0;
    holder[s] = NOBODY; owner_died[s] = false
}

inline move_operation(s, status_) {
    operation[s].status = status_;
    operation[s].version++
}

/* What no guard reads once an operation is settled is forgotten, to keep the search small. */
inline settle_operation(s, status_) {
    operation[s].status = status_;
    operation[s].version = 0; operation[s].unproved = 0; operation[s].looked = false
}

/* engine/effects.py _intend, _schedule: the step, its intent and its claim row. */
inline intend(s) {
    operation[s].status = INTENDED;
    publish(s)
}

/* engine/fold.py fold: what follows from an accepted completion, in its transaction (P1).
 * While a cancellation stops active work, facts are kept and effects are dropped. */
inline fold(s, goes_on) {
    followed[s]++;
    outbox[s].status = PENDING;
    if
    :: workflow != RUNNING -> skip
    :: workflow == RUNNING && goes_on && s + 1 < STEPS -> intend(s + 1)
    :: else -> workflow = ENDED
    fi
}

/* engine/cancel.py go_on: leave `stopping` once nothing is active. Cleaning is one act here. */
inline go_on() {
    if
    :: workflow == CANCELLING && !ACTIVE(0) && !ACTIVE(STEPS - 1) -> workflow = ENDED
    :: else -> skip
    fi
}

/* Every accepted write of an attempt. At most one live holder is accepted. */
inline accepted(s) {
    assert(holder[s] == me)
}

/* A step ends once; its claim is gone, and with it every attempt's right to write. */
inline close(s, status_) {
    assert(closed[s] == 0);
    closed[s]++;
    step[s].status = status_;
    step[s].generation = 0; step[s].lost = 0; step[s].turned_away = 0; step[s].exhausted = false
}

/* engine/results.py unsettle, engine/expiry.py _became_ambiguous. */
inline to_reconciler(s) {
    move_operation(s, AMBIGUOUS);
    operation[s].looked = false;
    step[s].status = UNSETTLED
}

/* engine/hand_on.py refuse, store/operations.py abandon_intended: nothing of it took effect. */
inline undone(s) {
    assert(effects[s] == 0);
    if
    :: step[s].older_run ->
        step[s].status = CANCELLED;
        settle_operation(s, ABANDONED);
        go_on()
    :: else ->
        close(s, FAILED);
        settle_operation(s, REFUSED);
        fold(s, false)
    fi
}

/* Nobody goes on with the step: what was sent without proof is observed until it is dead. The
 * status `intended` alone proves nothing: SendAgain puts it back after a request left. */
inline end_unless_unproved(s) {
    if
#ifndef INTENDED_IS_PROOF
    :: operation[s].unproved > 0 -> to_reconciler(s)
#endif
    :: else -> undone(s)
    fi
}

/* The receiver. A key makes a repeat the same request: it gets the first answer. */
inline admit(s) {
    may_land[s]--;
    if
#ifndef KEY_PER_ATTEMPT
    :: HAS_KEY && effects[s] > 0 -> skip
#endif
    :: else ->
        effects[s]++;
        assert(effects[s] == 1);
        assert(operation[s].status != REFUSED && operation[s].status != ABANDONED)
    fi
}

/* Without a key, no second request leaves while the first may still be in flight or has landed. */
inline leaves(s) {
#ifndef KEY
    assert(left[s] == 0);
    left[s]++
#else
    skip
#endif
}

inline proved_undone(s) {
#ifndef KEY
    left[s]--
#else
    skip
#endif
}

inline spend() { faults-- }

/* ---- A slot of a worker. ----------------------------------------------------------------- */

mtype:slot_state = { IDLE, HAS_LEASE, MAY_SEND, MUST_MARK, WAITS };

inline rest() {
    at = IDLE; answer = NO_REQUEST;
    s = 0; g = 0
}

proctype Slot(byte me) {
    byte s, g;
    mtype:reply answer = NO_REQUEST;
    mtype:slot_state at = IDLE;
#ifdef OUTBOX_IN_SECOND_TRANSACTION
    bool must_fold;
    byte folds;
#endif

end:do
    /* claim_due_steps.sql. Held by nobody; the generation goes up and never resets (R9). */
    :: atomic { at == IDLE && (claim[0].row && !claim[0].owned ||
                               claim[STEPS - 1].row && !claim[STEPS - 1].owned) ->
        s = (claim[0].row && !claim[0].owned -> 0 : STEPS - 1);
        assert(holder[s] == NOBODY && step[s].status == DUE);
        g = claim[s].generation + 1;
        claim[s].owned = true; claim[s].generation = g;
        step[s].status = LEASED; step[s].generation = g;
        holder[s] = me;
        at = HAS_LEASE }

#ifndef INTENT_AFTER_SEND
    /* share_run.sql, hold_lease_for_send.sql, mark_sent_if_leased.sql (R1, R2, R10): one commit
     * of its own, before the first byte. A lease that was not yet taken away is extended. */
    :: atomic { at == HAS_LEASE ->
        if
        :: HOLDS(s, g) && !step[s].older_run && operation[s].status == INTENDED ->
            accepted(s);
            claim[s].expired = false;
            move_operation(s, SENT);
            operation[s].unproved++;
            may_land[s]++;
            at = MAY_SEND
        :: HOLDS(s, g) && step[s].older_run -> /* engine/results.py acknowledge_stop */
            accepted(s);
            release(s);
            end_unless_unproved(s);
            rest()
        :: else -> rest() /* Permission.STALE: the late word is kept, nothing moves (R12) */
        fi }
#else
    /* Planted: the request leaves first, `sent` is written afterwards. */
    :: atomic { at == HAS_LEASE ->
        if
        :: HOLDS(s, g) && operation[s].status == INTENDED -> may_land[s]++; at = MAY_SEND
        :: else -> rest()
        fi }
    :: atomic { at == MUST_MARK ->
        if
        :: HOLDS(s, g) && operation[s].status == INTENDED ->
            move_operation(s, SENT);
            operation[s].unproved++
        :: else -> skip
        fi;
        at = WAITS }
#endif

    /* activities/attempt.py _send: the first byte leaves. No lease is looked at any more: a slot
     * that froze after its commit sends when it wakes. Without a key, none may have left before. */
    :: atomic { at == MAY_SEND ->
        leaves(s);
        answer = FLYING;
#ifdef INTENT_AFTER_SEND
        at = MUST_MARK
#else
        at = WAITS
#endif
        }

    /* lock_run.sql, release_claim_if_held.sql, close_step_if_leased.sql,
     * settle_operation_if_version.sql: engine/results.py succeed, all of it or nothing. */
    :: atomic { at == WAITS && answer == APPLIED ->
        if
        :: HOLDS(s, g) ->
            accepted(s);
            release(s);
            close(s, SUCCEEDED);
            assert(operation[s].status == SENT);
            settle_operation(s, CONFIRMED);
#ifndef OUTBOX_IN_SECOND_TRANSACTION
            fold(s, true);
            go_on()
#else
            folds = s; must_fold = true
#endif
        :: else -> skip /* StaleAttempt: a late result never moves its step (R12) */
        fi;
        rest() }

#ifdef OUTBOX_IN_SECOND_TRANSACTION
    :: atomic { must_fold -> fold(folds, true); go_on(); must_fold = false }
    :: atomic { must_fold && faults > 0 -> spend(); must_fold = false }
#endif

    /* engine/results.py fail: proved undone, so `sent` goes back to `intended` (R8), or give up. */
    :: atomic { at == WAITS && answer == TURNED_AWAY ->
        if
        :: HOLDS(s, g) ->
            accepted(s);
            release(s);
            operation[s].unproved--;
            if
            :: !step[s].older_run && step[s].turned_away < TRANSPORT_BUDGET ->
                step[s].turned_away++;
                move_operation(s, INTENDED);
                publish(s)
            :: else ->
                step[s].exhausted = true;
                end_unless_unproved(s)
            fi
        :: else -> skip
        fi;
        rest() }

    /* engine/results.py leave_unsettled: sent, and no parsed answer came back. */
    :: atomic { at == WAITS && answer == SILENCE ->
        if
        :: HOLDS(s, g) -> accepted(s); release(s); to_reconciler(s)
        :: else -> skip
        fi;
        rest() }

    /* The outside, while the slot waits. Admitted and answered; or admitted, and the answer is
     * lost; or lost on the way; or turned away with a word that says so (429); or too slow for the
     * client's own time limit, and still under way. */
    :: atomic { at == WAITS && answer == FLYING -> admit(s); answer = APPLIED }
    :: atomic { at == WAITS && answer == FLYING && faults > 0 ->
        spend();
        if
        :: admit(s); answer = SILENCE
        :: may_land[s]--; answer = SILENCE
        :: may_land[s]--; proved_undone(s); answer = TURNED_AWAY
        :: astray[s]++; answer = SILENCE
        fi }

    /* SIGKILL at any point. What lives in memory is gone; what left is under way. */
    :: atomic { at != IDLE && faults > 0 ->
        spend();
        if
        :: answer == FLYING -> astray[s]++
        :: at == MAY_SEND -> may_land[s]--
        :: else -> skip
        fi;
        if
        :: holder[s] == me -> owner_died[s] = true
        :: else -> skip
        fi;
        rest() }
    od
}

/* ---- The database's clock, and the heartbeat that works against it. ---------------------- */

proctype Clock(byte s) {
end:do
    /* A lease runs out. Under a live owner that takes a freeze, which is a fault. A session lock
     * that is free (release_claim_if_orphaned.sql, R11) takes it away in the same way, earlier. */
    :: atomic { claim[s].owned && !claim[s].expired && owner_died[s] -> claim[s].expired = true }
    :: atomic { claim[s].owned && !claim[s].expired && !owner_died[s] && faults > 0 ->
        spend();
        claim[s].expired = true }

    /* renew_leases_if_held.sql: a lease that was not yet taken away is renewed, expired or not. */
#ifndef RENEWED_FOR_THE_DEAD
    :: atomic { claim[s].owned && claim[s].expired && !owner_died[s] -> claim[s].expired = false }
#else
    :: atomic { claim[s].owned && claim[s].expired -> claim[s].expired = false }
#endif

    /* take_due_outbox.sql: the hold of a taken row runs out. */
    :: atomic { outbox[s].status == TAKEN && !outbox[s].hold_over && taker_died[s] ->
        outbox[s].hold_over = true }
    :: atomic { outbox[s].status == TAKEN && !outbox[s].hold_over && !taker_died[s] && faults > 0 ->
        spend();
        outbox[s].hold_over = true }
    od
}

/* ---- A reconciler: two run at once, and each may take its word late. ---------------------- */

mtype:duty = { NOTHING, FOUND_LEASE, FOUND_OPERATION, OBSERVED };

proctype Reconciler() {
    byte s, v, g;
    bool found, dead;
    mtype:duty at = NOTHING;

end:do
    :: atomic { at == NOTHING && (claim[0].owned && claim[0].expired ||
                                  claim[STEPS - 1].owned && claim[STEPS - 1].expired) ->
        /* store/claims.py expired_claims: read without a lock, so a renewal may come between. */
        s = (claim[0].owned && claim[0].expired -> 0 : STEPS - 1);
        g = claim[s].generation;
        at = FOUND_LEASE }

    /* lock_run_if_free.sql, release_claim_if_expired.sql: engine/expiry.py expire_if_due. */
    :: atomic { at == FOUND_LEASE ->
        at = NOTHING;
        if
#ifdef NO_EXPIRY_GUARD
        :: claim[s].owned ->
#else
        :: claim[s].owned && claim[s].generation == g && claim[s].expired ->
#endif
            assert(claim[s].expired);
            release(s);
            if
#ifdef TAKE_OVER_RESENDS
            :: operation[s].status == SENT -> move_operation(s, INTENDED); publish(s)
#elif defined(TAKE_OVER_FORGETS)
            :: operation[s].status == SENT -> skip
#else
            :: operation[s].status == SENT ->
                to_reconciler(s);
                step[s].generation++ /* raise_generation: the lost attempt's token is too low */
#endif
            :: operation[s].status != SENT && !step[s].older_run && step[s].lost < LOST_BUDGET ->
                step[s].lost++;
                publish(s)
            :: else -> step[s].exhausted = true; end_unless_unproved(s)
            fi
        :: else -> skip
        fi;
        s = 0; g = 0 }

    /* store/operations.py due_for_observation: read without a lock, the version with it. */
    :: atomic { at == NOTHING && (WORTH_A_LOOK(0) || WORTH_A_LOOK(STEPS - 1)) ->
        s = (WORTH_A_LOOK(0) -> 0 : STEPS - 1);
        v = operation[s].version;
        at = FOUND_OPERATION }

    /* reconciler/ambiguous_operations.py _observe: outside of any transaction. `dead`: every
     * request's own time limit is over and no sender has its lease any more (R10). */
    :: atomic { at == FOUND_OPERATION ->
        found = (effects[s] > 0);
        dead = (may_land[s] == 0);
        at = OBSERVED }

    /* lock_run.sql, settle_operation_if_version.sql (R18): engine/settle.py, with the table of
     * reconciler/verdicts.py. Absence allows another send only where a key refuses the second. */
    :: atomic { at == OBSERVED ->
        at = NOTHING;
        if
#ifdef SETTLED_TWICE
        :: found && (UNCHANGED(s, v) || operation[s].status == CONFIRMED) -> /* Adopt */
#else
        :: UNCHANGED(s, v) && found -> /* Adopt */
#endif
            assert(closed[s] == 0);
            assert(step[s].status == UNSETTLED);
            settle_operation(s, CONFIRMED);
            if
            :: workflow == ENDED -> step[s].status = SUCCEEDED
            :: else -> close(s, SUCCEEDED); fold(s, true); go_on()
            fi
        :: UNCHANGED(s, v) && !found && WANTED(s) && MAY_SEND_AGAIN -> /* SendAgain */
            move_operation(s, INTENDED);
            publish(s)
        :: UNCHANGED(s, v) && !found && !WANTED(s) && MAY_END -> undone(s)
        :: UNCHANGED(s, v) && !found && !(WANTED(s) -> MAY_SEND_AGAIN : MAY_END) ->
            /* StillUnknown: note_observation */
            operation[s].version++;
            operation[s].looked = true;
            go_on()
        :: else -> skip
        fi;
        s = 0; v = 0; found = false; dead = false }
    od
}

/* ---- A publisher: two run at once (activities/publisher.py). ------------------------------ */

#ifdef NO_ROW_LOCK
#define LOCKED_BY_OTHER(r) false
#else
#define LOCKED_BY_OTHER(r) outbox[r].locked
#endif
#define FREE(r) (!LOCKED_BY_OTHER(r) && \
                 (outbox[r].status == PENDING || outbox[r].status == TAKEN && outbox[r].hold_over))

mtype:publisher_state = { WAITING, LOCKED, TOOK, HANDED_OVER };

proctype Publisher() {
    byte r;
    mtype:publisher_state at = WAITING;

end:do
    /* take_due_outbox.sql, FOR UPDATE SKIP LOCKED: a row that another one is taking is skipped. */
    :: atomic { at == WAITING && (FREE(0) || FREE(STEPS - 1)) ->
        r = (FREE(0) -> 0 : STEPS - 1);
        outbox[r].locked = true;
        at = LOCKED }
    :: atomic { at == LOCKED ->
        assert(outbox[r].status == PENDING || outbox[r].hold_over);
        outbox[r].locked = false;
        outbox[r].status = TAKEN; outbox[r].hold_over = false;
        taker_died[r] = false;
        at = TOOK }

    /* The subscribers, then store/messages.py published. At least once, never the other way. */
#ifndef PUBLISHED_BEFORE_HANDED_OVER
    :: atomic { at == TOOK -> delivered[r] = true; at = HANDED_OVER }
    :: atomic { at == HANDED_OVER -> outbox[r].status = PUBLISHED; r = 0; at = WAITING }
#else
    :: atomic { at == TOOK -> outbox[r].status = PUBLISHED; at = HANDED_OVER }
    :: atomic { at == HANDED_OVER -> delivered[r] = true; r = 0; at = WAITING }
#endif

    /* SIGKILL: a lock that was not committed is free again. */
    :: atomic { at != WAITING && faults > 0 ->
        spend();
        if
        :: at == LOCKED -> outbox[r].locked = false
        :: else -> taker_died[r] = true
        fi;
        r = 0; at = WAITING }
    od
}

/* ---- Requests whose sender is gone; a person; and the judge. ------------------------------ */

proctype Outside() {
end:do
    :: atomic { astray[0] > 0 -> astray[0]--; admit(0) }
    :: atomic { astray[0] > 0 -> astray[0]--; may_land[0]-- }
    :: atomic { STEPS > 1 && astray[STEPS - 1] > 0 -> astray[STEPS - 1]--; admit(STEPS - 1) }
    :: atomic { STEPS > 1 && astray[STEPS - 1] > 0 -> astray[STEPS - 1]--; may_land[STEPS - 1]-- }
    od
}

#ifdef CANCEL
/* lock_run_if_free.sql, engine/inbox.py _decide_run, engine/cancel.py begin: the run's generation
 * goes up, what nobody holds is dropped, what is held loses the right to send. */
inline drop(s) {
    if
    :: step[s].status == DUE || step[s].status == LEASED || step[s].status == UNSETTLED ->
        step[s].older_run = true
    :: else -> skip
    fi;
    if
    :: claim[s].row && !claim[s].owned -> release(s); end_unless_unproved(s)
    :: else -> skip
    fi
}

proctype Person() {
    atomic {
        if
        :: workflow == RUNNING ->
            workflow = CANCELLING;
            drop(0);
            if
            :: STEPS > 1 -> drop(STEPS - 1)
            :: else -> skip
            fi;
            go_on()
        :: else -> skip /* too-late */
        fi
    }
}
#endif

/* What is left for a person: sent, never answered, not seen, and nothing to send again. */
#define FOR_A_PERSON(s) (operation[s].status == AMBIGUOUS && effects[s] == 0 && may_land[s] == 0 \
                         && !HAS_KEY)
#ifdef PUBLISHERS
#define IS_TOLD(s) (closed[s] == 0 || outbox[s].status == PUBLISHED && delivered[s])
#else
#define IS_TOLD(s) (closed[s] == 0 || outbox[s].status == PENDING)
#endif

/* Nothing can happen any more: the run has ended or waits for a person, and nothing is lost. */
proctype Judge() {
    byte s;

end:timeout ->
    atomic {
        for (s : 0 .. STEPS - 1) {
            assert(followed[s] == closed[s]);
            assert(IS_TOLD(s))
        }
        assert(workflow == ENDED || FOR_A_PERSON(0) || FOR_A_PERSON(STEPS - 1))
    }
}

init {
    byte s;
    atomic {
        for (s : 0 .. STEPS - 1) {
            holder[s] = NOBODY;
            step[s].status = UNBORN;
            operation[s].status = NO_INTENT;
            outbox[s].status = NO_ROW
        }
        s = 0;
        intend(0);
        run Slot(0); run Slot(1);
        run Reconciler();
#if RECONCILERS > 1
        run Reconciler();
#endif
        run Outside(); run Clock(0);
#if STEPS > 1
        run Clock(1);
#endif
#ifdef PUBLISHERS
        run Publisher(); run Publisher();
#endif
#ifdef CANCEL
        run Person();
#endif
        run Judge()
    }
}

/* Under weak fairness. */
ltl run_moves {
    <> (workflow == ENDED || FOR_A_PERSON(0) || FOR_A_PERSON(STEPS - 1))
}
#ifdef PUBLISHERS
ltl rows_are_told {
    [] (closed[0] > 0 -> <> delivered[0])
}
#endif
