//! What every store keeps, as tests that run against each of them: `store_suite!(engine);` in a test file.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "these are tests: they fail by panicking")]

pub mod claims;
pub mod due;
pub mod durability;
pub mod events;
mod harness;
pub mod lists;
pub mod money;
pub mod payout_money;
pub mod payouts;
mod probe;
pub mod races;
pub mod reconciliation;
pub mod records;
pub mod refund_money;
pub mod refunds;
pub mod releases;
pub mod reservations;
pub mod rows;
pub mod splits;
pub mod statement;
pub mod timeline;
pub mod versions;
pub mod workload;

pub use harness::{Engine, Harness, WholeStore, run};

/// One test for each rule of the contract. `$engine` names a function without arguments in scope that makes a `Box<dyn Engine>`.
#[macro_export]
macro_rules! store_suite {
    ($engine:ident) => {
        $crate::store_suite! { @tests $engine
            rows {
                charges_come_back_in_every_state
                charges_come_back_after_every_update
                extreme_charges_come_back
                what_was_never_written_is_not_found
                one_accounts_charge_is_not_anothers
            }
            records {
                accounts_come_back
                extreme_accounts_come_back
                accounts_come_back_changed
                keys_come_back_with_their_account
                keys_come_back_changed
                notices_come_back
                notices_come_back_changed
            }
            claims {
                the_first_use_of_a_key_takes_it
                a_second_use_is_refused_with_the_claim
                a_key_is_free_in_another_account
                keys_differ_in_every_character
                a_takeover_moves_the_fence
                the_holder_answers_once
                an_answer_comes_back_byte_for_byte
                a_claim_given_back_is_resumed
                a_refused_claim_leaves_nothing
            }
            reservations {
                a_value_has_one_owner
                kinds_and_accounts_do_not_share_values
                external_ids_differ_in_every_character
                the_first_taken_value_is_named
                a_value_given_back_is_free
                giving_back_does_not_help_the_same_change_set
            }
            versions {
                checks_come_in_the_documented_order
                a_stale_change_leaves_nothing
                every_kind_of_record_is_guarded
                one_of_two_updates_in_a_batch_is_stale
            }
            money {
                a_payment_is_credited_less_its_fee
                the_same_payment_is_credited_once
                cover_is_exact_to_the_centavo
                cover_is_judged_in_the_order_of_transfers
                uncovered_money_leaves_nothing
                every_bucket_is_its_own
                the_greatest_amount_moves
                a_balance_out_of_range_is_refused
            }
            events {
                sequences_count_from_one_in_each_account
                a_change_set_learns_its_sequences_in_order
                sequences_have_no_gap_under_load
            }
            races {
                one_of_many_callers_gets_an_idempotency_key
                one_of_many_callers_gets_an_external_id
                one_of_many_callers_gets_the_last_money
                one_of_many_notices_credits_a_payment
                refused_change_sets_cost_their_neighbours_nothing
                payments_of_many_accounts_add_up
            }
            lists {
                pages_are_newest_first_and_complete
                has_more_is_exact_at_every_limit
                a_walk_is_stable_while_rows_arrive
                invisible_and_foreign_charges_are_not_listed
                a_cursor_need_not_exist
                accounts_are_listed_newest_first
                the_newest_keys_are_listed
            }
            due {
                due_claims_come_longest_overdue_first
                due_notices_come_longest_overdue_first
                overdue_charges_come_longest_overdue_first
                pruning_removes_only_what_is_done_and_old
            }
            payouts {
                payouts_come_back_in_every_state
                extreme_payouts_come_back
                payouts_come_back_after_every_update
                a_stale_payout_leaves_nothing
                invisible_and_foreign_payouts_are_not_listed
                pages_of_payouts_are_complete_and_stable
                due_payouts_come_longest_overdue_first
                payouts_are_found_by_their_name_upstream
            }
            payout_money {
                a_payout_is_held_and_completed
                a_failed_payout_gives_all_back
                an_abandoned_payout_is_tried_again
                an_uncovered_payout_leaves_nothing
                one_of_many_payouts_gets_the_last_money
                one_outcome_of_a_payout_becomes_true
                what_came_back_is_credited_once
                a_payout_may_pay_a_charge_of_ours
                external_ids_are_unique_among_payouts
            }
            refunds {
                refunds_come_back_in_every_state
                extreme_refunds_come_back
                refunds_come_back_after_every_update
                a_charge_knows_what_goes_back
                a_stale_refund_leaves_nothing
                refunds_are_listed_with_their_charge
                due_refunds_come_longest_overdue_first
            }
            refund_money {
                a_charge_goes_back_in_parts
                a_refund_that_failed_gives_all_back
                a_refund_and_its_charge_change_together
                an_uncovered_refund_leaves_nothing
                one_of_many_refunds_gets_the_charge
                one_outcome_of_a_refund_becomes_true
            }
            releases {
                releases_come_back
                due_releases_come_longest_overdue_first
                a_payment_waits_for_its_release
                a_release_is_made_once
                a_release_that_is_refused_leaves_nothing
            }
            splits {
                the_parts_of_a_charge_are_credited_together
                a_charge_can_be_given_away_whole
                splits_race_with_payouts_of_their_beneficiaries
                a_split_comes_back_with_its_charge
                a_part_can_be_spent_at_once
            }
            statement {
                a_statement_replays_to_the_balance
                each_line_says_what_moved
                a_split_credit_tells_nothing_of_its_charge
                filters_of_a_statement_combine
                pages_of_a_statement_are_complete_and_stable
                an_entry_is_known_to_its_own_account
            }
            timeline {
                transactions_are_merged_in_the_order_of_their_keys
                filters_of_a_timeline_combine
                pages_of_a_timeline_are_stable_while_rows_arrive
                a_cursor_of_a_timeline_need_not_match
                unfinished_and_foreign_transactions_are_not_shown
                a_split_credit_is_shown_to_its_beneficiary_only
                transactions_are_found_by_their_keys
            }
            reconciliation {
                payments_are_listed_in_order
                payouts_are_listed_in_order
            }
            workload {
                a_random_workload_agrees_with_the_model
            }
            durability {
                a_reopened_store_has_everything
            }
        }
    };
    (@tests $engine:ident $($module:ident { $($case:ident)* })*) => {
        $(mod $module {
            $(
                #[test]
                fn $case() {
                    $crate::contract::run(super::$engine(), $crate::contract::$module::$case);
                }
            )*
        })*
    };
}
