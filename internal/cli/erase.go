package cli

import (
	"errors"
	"fmt"

	"handover/internal/ledger"
	"handover/internal/order"
)

type eraseCommand struct {
	Order  string  `arg:"" optional:"" help:"ENVIRONMENT/SESSION, or the reference."`
	Email  *string `help:"All orders of this address, in any letter case; - reads it from standard input." placeholder:"ADDRESS"`
	Reason string  `required:"" help:"Why, without the buyer's name. It is kept in the order's audit." placeholder:"TEXT"`
	JSON   bool    `help:"Print JSON."`
}

// erased is what became of one order.
type erased struct {
	Order  string `json:"order"`
	Erased bool   `json:"erased"`
}

// Run erases the buyer from Postgres. Temporal's histories hold nothing of a buyer.
func (e *eraseCommand) Run(c *console) error {
	if (e.Order == "") == (e.Email == nil) {
		return fmt.Errorf("%w: name one ORDER, or --email ADDRESS for all orders of an address", errUsage)
	}
	request, err := c.newRequest("erase", e.Reason)
	if err != nil {
		return err
	}
	if e.Email == nil {
		return c.withOrder(e.Order, func(cn *connection, v order.View) error {
			done, err := e.one(cn, v, request)
			if err == nil && e.JSON {
				err = c.printJSON(done)
			}
			return err
		})
	}
	address, err := c.address("--email", *e.Email)
	if err != nil {
		return err
	}
	return c.connect(func(cn *connection) error { return e.all(cn, address, request) })
}

// all erases every order of an address. What is still under way is left, and said.
func (e *eraseCommand) all(cn *connection, address string, request order.Request) error {
	views, err := cn.ledger.List(cn.ctx, ledger.Filter{Address: address, Limit: allOrders})
	if err != nil {
		return err
	}
	if len(views) == 0 {
		return fmt.Errorf("an order of that address is %w", ledger.ErrNotFound)
	}
	list, left := []erased{}, []error{}
	for _, v := range views {
		done, err := e.one(cn, v, request)
		if err != nil {
			left = append(left, err)
		}
		list = append(list, done)
	}
	if e.JSON {
		left = append(left, cn.printJSON(list))
	}
	return errors.Join(left...)
}

func (e *eraseCommand) one(cn *connection, v order.View, request order.Request) (erased, error) {
	err := cn.ledger.Erase(cn.ctx, v.Key, request.Who, request.Why)
	if errors.Is(err, ledger.ErrUnderWay) {
		err = fmt.Errorf(textEraseUnderWay, v.Key, v.Key)
	}
	if err == nil && !e.JSON {
		fmt.Fprintf(cn.Out, textErased, v.Key)
	}
	return erased{Order: v.Key.String(), Erased: err == nil}, err
}
